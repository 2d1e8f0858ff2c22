package dozo.api;

import dozo.api.http.Page;
import dozo.api.http.Verb;
import dozo.ledger.Sight;
import dozo.people.Users.User;
import dozo.search.Hit.Kind;
import dozo.search.Search;
import dozo.search.SearchResult;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Search in everything that the user may see. */
@RestController
record SearchApi(Search search) {

    /**
     * Finds experiments, projects, files, findings and users by parts of their names and of what is known of them. Each word must
     * be found, in any order, in upper or lower case. A file is found in every manifest in which it ever was.
     *
     * @param q words, separated by spaces or commas
     * @param kind only this kind: experiment, project, file, finding or user. Files are then searched for up to 2 seconds a page
     *     instead of a moment
     * @param after with a {@code kind}: the {@code next} of the previous page
     * @param limit the maximum number of results of each kind
     */
    @Verb(
            value = "find WORDS…:q --kind=KIND [--limit=LIMIT]",
            arguments = {
                "WORDS=parts of what is searched",
                "--kind=only this kind: experiment, project, file, finding or user",
                "--limit=the maximum number of results"
            },
            columns = {"KIND={kind}[ ({over?}past)]", "NAME=[{experiment}: ]{name}", "ABOUT={about}"},
            none = "Nothing was found.",
            example = "dozo find --kind file t1w 2025")
    @Verb(
            value = "find WORDS…:q [--limit=LIMIT]",
            columns = {"KIND={kind}[ ({over?}past)]", "NAME=[{experiment}: ]{name}", "ABOUT={about}"},
            items = "items",
            says = "{items?}|{partial?}|Nothing was found.",
            total =
                    "{partial?}Not all was read that may match. To read all of a kind, here {more words}: dozo find --kind KIND"
                            + "|{more?}There is more of: {more words}. To see all of a kind: dozo find --kind KIND",
            example = "dozo find sub-0012 rest bold")
    @GetMapping("/api/v1/search")
    SearchResult search(
            @RequestParam List<String> q,
            @RequestParam(required = false) @Nullable String kind,
            @RequestParam(defaultValue = "") String after,
            @RequestParam(defaultValue = Page.LIMIT) int limit,
            User user,
            Sight sight) {
        return search.find(
                String.join(" ", q),
                user.roles(),
                sight,
                kind == null ? null : Kind.of(kind),
                after,
                Page.checked(limit));
    }
}
