package dozo.api;

import dozo.api.http.Missing;
import dozo.registry.Refusal;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/** Finds the site of a request: the named one, otherwise the only one. */
@Component
record SiteChoice(Sites sites) {

    /** Returns the site; empty if none is registered. */
    Optional<Site> of(@Nullable String name) {
        if (name != null) {
            return Optional.of(sites.find(name).orElseThrow(Missing.thing("site", name)));
        }
        return sites.only();
    }

    /** Returns the site; refuses the request if none is registered. */
    Site needed(@Nullable String name) {
        return of(name).orElseThrow(() -> new Refusal("site", "no site is registered; register one first"));
    }

    /** Returns {@link #idOf} if the site is clear: it is named, or there are not several. */
    OptionalInt idIfClear(@Nullable String name) {
        if (name != null) {
            return OptionalInt.of(idOf(name));
        }
        List<Site> all = sites.all();
        return all.size() > 1
                ? OptionalInt.empty()
                : OptionalInt.of(all.stream().mapToInt(Site::id).findFirst().orElse(Sites.NO_SITE));
    }

    /** Returns the site's id; {@link Sites#NO_SITE} if none is registered. */
    int idOf(@Nullable String name) {
        return of(name).map(Site::id).orElse(Sites.NO_SITE);
    }
}
