package dozo.registry;

import dozo.ledger.Ledger;
import dozo.ledger.Rows;
import dozo.ledger.Supersession;
import dozo.registry.Sites.Site;
import dozo.remote.KeyPowers;
import dozo.remote.KeyPowers.Power;
import dozo.remote.Lane;
import dozo.remote.RemoteException;
import dozo.remote.SiteCache;
import dozo.remote.SiteCheck;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/**
 * The capabilities of sites, as found by each check, for people to read. Code that works with a site checks it itself
 * and does not rely on these.
 */
@Component
public class Capabilities {

    private final JdbcClient jdbc;
    private final Ledger ledger;
    private final Capacities capacities;
    private final InstantSource clock;
    private final SiteRoots roots;

    /**
     * What a site can do, since when, and when that was last seen. Digests by another command of the same kind are no
     * change, because the faster one varies. Nor is a change in whether archives can be unpacked or files linked: SFTP
     * serves as well, and a site without a free channel at that moment does not show its tar.
     *
     * @param digest how digests are computed there, as in receipts
     * @param digestBytesPerSecond the last measured rate; 0: not measured
     * @param unpacksTar whether files can be sent there as archives
     * @param linksFiles whether files there can have hard links, so that a file with many names is stored once
     * @param cacheTool the tool that drops files from the site's cache; null: reads there are warm
     * @param clockAheadSeconds how far its clock was ahead of ours; null: not measured
     * @param keyCould what somebody with the site's key could do to stored files
     * @param keyCouldNot what the site refuses to the key; what is in neither list is unknown
     */
    public record Capability(
            Instant firstSeenAt,
            Instant lastSeenAt,
            String server,
            String digest,
            double digestBytesPerSecond,
            boolean syncsAtOnce,
            boolean unpacksTar,
            boolean linksFiles,
            @Nullable String cacheTool,
            boolean renameKeeps,
            boolean namesAreBytes,
            List<String> extensions,
            @Nullable Long clockAheadSeconds,
            List<Power> keyCould,
            List<Power> keyCouldNot) {

        /** Returns what somebody with the site's key could do to stored files. */
        public KeyPowers keyPowers() {
            return new KeyPowers(Set.copyOf(keyCould), Set.copyOf(keyCouldNot));
        }

        private static Capability of(SiteCheck check, Instant now) {
            return new Capability(
                    now,
                    now,
                    check.server(),
                    check.digest().method(),
                    check.digestBytesPerSecond(),
                    check.syncsAtOnce(),
                    check.unpacksTar(),
                    check.linksFiles(),
                    check.cache().map(SiteCache::tool).orElse(null),
                    check.renameKeeps(),
                    check.namesAreBytes(),
                    List.copyOf(new TreeSet<>(check.extensions())),
                    check.clockAhead().map(Duration::toSeconds).orElse(null),
                    List.copyOf(check.keyPowers().could()),
                    List.copyOf(check.keyPowers().couldNot()));
        }

        /** Returns the kind of the digest method: {@code exec}, {@code check-file}, {@code read-back}. */
        private String digestKind() {
            return digest.split(" ", 2)[0];
        }

        /** Describes it, without values that differ from one check to the next. */
        private String words() {
            return "%s; digests by %s; %s; %s; %s; %s; with the key %s, not %s; extensions %s"
                    .formatted(
                            server,
                            digestKind(),
                            syncsAtOnce ? "sync" : "no sync",
                            cacheTool == null ? "reads warm" : "reads cold by " + cacheTool,
                            renameKeeps ? "renames replace nothing" : "renames replace",
                            namesAreBytes ? "names are bytes" : "names are not bytes",
                            keyCould,
                            keyCouldNot,
                            String.join(" ", extensions));
        }

        /** Returns what this lacks compared with an earlier one, a few words each. */
        private List<String> lostOf(Capability before) {
            List<String> lost = new ArrayList<>();
            if (!before.digest.equals(digest) && rank(digestKind()) > rank(before.digestKind())) {
                lost.add("digest method changed from %s to %s".formatted(before.digest, digest));
            }
            if (before.syncsAtOnce && !syncsAtOnce) {
                lost.add("`sync -f` no longer works");
            }
            if (before.cacheTool != null && cacheTool == null) {
                lost.add("files can no longer be dropped from its cache: reads are warm");
            }
            if (before.namesAreBytes && !namesAreBytes) {
                lost.add("names are no longer stored byte for byte");
            }
            List<Power> gained =
                    before.keyCouldNot.stream().filter(keyCould::contains).toList();
            if (!gained.isEmpty()) {
                lost.add("stored files are no longer protected from a stolen key: now possible: %s".formatted(gained));
            }
            return lost;
        }

        private static int rank(String kind) {
            return List.of("exec", "check-file", "read-back").indexOf(kind);
        }
    }

    public Capabilities(JdbcClient jdbc, Ledger ledger, Capacities capacities, InstantSource clock) {
        this.jdbc = jdbc;
        this.ledger = ledger;
        this.capacities = capacities;
        this.clock = clock;
        this.roots = new SiteRoots(jdbc);
    }

    /**
     * Checks a site by {@link SiteCheck#of}, but first that it shares no folder with another site. A usable site has its mark
     * afterwards, and findings that it could not be used are over.
     *
     * @throws RemoteException REFUSED if its root is that of another site, or in one, or above one
     */
    public SiteCheck check(Site site, Lane lane) throws RemoteException, InterruptedException {
        long lastRun = Supersession.lastRun(jdbc, site.id());
        roots.require(site, lane);
        SiteCheck check = SiteCheck.of(lane);
        if (check.usable()) {
            roots.mark(site, lane);
            Supersession.usable(jdbc, site.id(), lastRun, clock.instant(), false);
        }
        return check;
    }

    /** Returns the present capabilities of a site; empty before its first check. */
    public Optional<Capability> of(int siteId) {
        return jdbc.sql("select * from site_capability where site_id = :site order by site_capability_id desc limit 1")
                .param("site", siteId)
                .query(Rows.of(Capability.class))
                .optional();
    }

    /**
     * Stores what a check of a site found: its free space, if it reports that, and the rest if the site is usable,
     * because what could not be tried is unknown. Changes are recorded in the ledger.
     *
     * @return what the site can no longer do since the previous check, a few words each
     */
    @Transactional
    public List<String> keep(Site site, SiteCheck check, String actor) {
        // NB: a full site is not usable, and that is when its space matters. A site that reports 0 bytes reports
        // nothing.
        check.space().filter(space -> space.totalBytes() > 0).ifPresent(space -> capacities.keep(site.id(), space));
        if (!check.usable()) {
            return List.of();
        }
        Capability found = Capability.of(check, clock.instant());
        Optional<Capability> before = of(site.id());
        if (before.isPresent() && before.get().words().equals(found.words())) {
            seeAgain(site.id(), found);
            return List.of();
        }
        add(site.id(), found);
        ledger.change(
                actor,
                "site.capabilities",
                site.name(),
                before.map(Capability::words).orElse(""),
                found.words());
        return before.map(found::lostOf).orElse(List.of());
    }

    private void seeAgain(int siteId, Capability found) {
        jdbc.sql("""
                        update site_capability
                        set last_seen_at = :lastSeenAt, digest = :digest, digest_bytes_per_second = :digestBytesPerSecond,
                            unpacks_tar = :unpacksTar, links_files = :linksFiles, clock_ahead_seconds = :clockAheadSeconds
                        where site_capability_id =
                            (select max(site_capability_id) from site_capability where site_id = :site)
                        """).params(Rows.params(found)).param("site", siteId).update();
    }

    private void add(int siteId, Capability found) {
        jdbc.sql("""
                        insert into site_capability (site_id, first_seen_at, last_seen_at, server, digest,
                            digest_bytes_per_second, syncs_at_once, unpacks_tar, links_files, cache_tool, rename_keeps, names_are_bytes,
                            extensions, clock_ahead_seconds, key_could, key_could_not)
                        values (:site, :firstSeenAt, :lastSeenAt, :server, :digest, :digestBytesPerSecond, :syncsAtOnce, :unpacksTar, :linksFiles,
                            :cacheTool, :renameKeeps, :namesAreBytes, :extensions::text[], :clockAheadSeconds, :keyCould::text[],
                            :keyCouldNot::text[])
                        """).params(Rows.params(found)).param("site", siteId).update();
    }
}
