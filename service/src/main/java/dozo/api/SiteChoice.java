package dozo.api;

import dozo.api.http.Missing;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/** Which site is asked about: the one that is named, else the only one. */
@Component
class SiteChoice {

    /** No site has this id, so nothing is safe there: the truth while none is registered. */
    static final int NO_SITE = 0;

    private final Sites sites;

    SiteChoice(Sites sites) {
        this.sites = sites;
    }

    /** The site; empty while none is registered. */
    Optional<Site> of(@Nullable String name) {
        if (name != null) {
            return Optional.of(sites.find(name).orElseThrow(Missing.thing("site", name)));
        }
        return sites.only();
    }

    /** As {@link #idOf} where it is clear which one is meant: it is named, or there are not several. */
    OptionalInt idIfClear(@Nullable String name) {
        if (name != null) {
            return OptionalInt.of(idOf(name));
        }
        List<Site> all = sites.all();
        return all.size() > 1
                ? OptionalInt.empty()
                : OptionalInt.of(all.stream().mapToInt(Site::id).findFirst().orElse(NO_SITE));
    }

    /** The site's id; one that no site has while none is registered. */
    int idOf(@Nullable String name) {
        return of(name).map(Site::id).orElse(NO_SITE);
    }
}
