package dozo.api;

import dozo.api.http.Demanded;
import dozo.api.http.Missing;
import dozo.api.http.Page;
import dozo.people.Searches;
import dozo.people.Searches.Search;
import dozo.web.Change;
import java.security.Principal;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** Searches that a user keeps for the lists of the pages. */
@RestController
@RequestMapping("/api/v1/me/searches")
record KeptSearchApi(Searches searches) {

    /**
     * A search to keep.
     *
     * @param query what follows the question mark in the address of the list's page, encoded as there
     */
    record KeptSearch(@Demanded @Nullable String query) {}

    /** Lists the searches that you keep, by list and name. */
    @GetMapping
    Page<Search> list(Principal actor) {
        return new Page<>(searches.of(actor.getName(), null), null);
    }

    /**
     * Keeps a search of a list under a name. It replaces one with the same name.
     *
     * @param list experiments, findings or gaps
     */
    @PutMapping("/{list}/{name}")
    Search keep(@PathVariable String list, @PathVariable String name, @RequestBody KeptSearch asked, Principal actor) {
        return searches.keep(actor.getName(), list, name, asked.query() == null ? "" : asked.query());
    }

    /**
     * Removes a search that you keep, and returns it.
     *
     * @param list experiments, findings or gaps
     */
    @Change(undo = "PUT /me/searches/{list}/{name}?query={query}")
    @DeleteMapping("/{list}/{name}")
    Search remove(@PathVariable String list, @PathVariable String name, Principal actor) {
        return searches.remove(actor.getName(), list, name).orElseThrow(Missing.thing("search", name));
    }
}
