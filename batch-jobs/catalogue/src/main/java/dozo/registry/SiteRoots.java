package dozo.registry;

import dozo.ledger.Rows;
import dozo.registry.Sites.Site;
import dozo.remote.Lane;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import dozo.remote.RootMark;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * The roots of sites: no two share a folder, or what is safe at one could be changed by a run to the other. Each root has
 * the mark of its site. A site that is used for the first time replaces the mark of a removed site, or of a Dozo whose database
 * this one does not know: if that Dozo still runs, it is refused from then on.
 */
final class SiteRoots {

    private final JdbcClient jdbc;

    /** @param used whether a check has found the site usable before */
    private record Root(String name, String path, UUID mark, boolean used, boolean removed) {}

    SiteRoots(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    /**
     * Checks that the site's root is not the root of another, nor in one, nor above one. Writes nothing.
     *
     * @throws RemoteException REFUSED if it is
     */
    void require(Site site, Lane lane) throws RemoteException, InterruptedException {
        Map<UUID, Root> roots = all();
        Root own = own(roots, site);
        for (Map.Entry<String, UUID> above : RootMark.above(lane).entrySet()) {
            if (!above.getValue().equals(own.mark)) {
                throw refused(site, "is in %s, the root of".formatted(above.getKey()), roots.get(above.getValue()));
            }
        }
        Optional<UUID> here = RootMark.at(lane).filter(mark -> !mark.equals(own.mark));
        if (here.isPresent()) {
            Root other = roots.get(here.get());
            if (own.used || (other != null && !other.removed)) {
                throw refused(site, "is now the root of", other);
            }
        }
        for (Root other : roots.values()) {
            if (!other.removed && RootMark.below(lane, other.path).equals(Optional.of(other.mark))) {
                throw refused(site, "contains %s, the root of".formatted(other.path), other);
            }
        }
    }

    /**
     * Marks the site's root, after {@link #require}.
     *
     * @throws RemoteException REFUSED if another mark remains there
     */
    void mark(Site site, Lane lane) throws RemoteException, InterruptedException {
        Map<UUID, Root> roots = all();
        UUID own = own(roots, site).mark;
        Optional<UUID> before = RootMark.at(lane);
        if (!before.equals(Optional.of(own))) {
            RootMark.write(lane, own, before.isPresent());
            UUID now = RootMark.at(lane).orElse(own);
            if (!now.equals(own)) {
                throw refused(site, "is the root of", roots.get(now));
            }
        }
    }

    private Map<UUID, Root> all() {
        return jdbc.sql("""
                        select name, root as path, mark, removed_at is not null as removed,
                               exists (select from site_capability c where c.site_id = s.site_id) as used
                        from site s
                        """).query(Rows.of(Root.class)).list().stream()
                .collect(Collectors.toMap(Root::mark, root -> root));
    }

    private static Root own(Map<UUID, Root> roots, Site site) {
        return roots.values().stream()
                .filter(root -> root.name.equals(site.name()))
                .findFirst()
                .orElseThrow();
    }

    private static RemoteException refused(Site site, String how, @Nullable Root other) {
        return new RemoteException(
                Reason.REFUSED,
                "site %s cannot be used: its root %s %s %s; expected a folder of its own. Choose another root; or, if that site is no longer used, remove its file .dozo/site there"
                        .formatted(
                                site.name(),
                                site.address().root(),
                                how,
                                other == null ? "another Dozo" : "site " + other.name));
    }
}
