package dozo.run;

import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.ledger.Anchor;
import dozo.ledger.Findings;
import dozo.ledger.Findings.Finding;
import dozo.ledger.Ledger;
import dozo.registry.Code;
import dozo.remote.Lanes;
import dozo.remote.Patience;
import dozo.remote.RemoteException;
import dozo.remote.RemoteFacts.Kind;
import dozo.send.SiteFolders;
import dozo.send.SiteReader;
import dozo.send.SiteReader.Seen;
import dozo.transfer.TagFiles;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * Notices at the beginning of a run that an older database was put back: the site has an anchor of a row that the ledger does not
 * have, and manifests that the catalogue does not have.
 */
@Component
public class SiteAhead {

    /** How to get what the database does not know. */
    public static final String CURE =
            "To get them, stop the service before the next night and run dozo rebuild-catalogue into an empty database.";

    /** Bags that are asked together for their numbers. */
    private static final int BATCH = 1_000;

    /** Anchors that are tried, if the last ones cannot be read. */
    private static final int ANCHORS_MAX = 10;

    private static final int INFO_BYTES_MAX = 64 << 10;

    private final Ledger ledger;
    private final Findings findings;
    private final JdbcClient jdbc;

    SiteAhead(Ledger ledger, Findings findings, JdbcClient jdbc) {
        this.ledger = ledger;
        this.findings = findings;
        this.jdbc = jdbc;
    }

    /** Adds a finding to a run if the site has manifests that this database does not know because it is older. */
    void look(long runId, SiteReader reader) throws RemoteException, InterruptedException {
        at(reader, ledger, jdbc)
                .ifPresent(message ->
                        findings.add(runId, new Finding(null, Problem.SITE_AHEAD, "%s. %s".formatted(message, CURE))));
    }

    /** Returns what a site has that this database does not know because it is older, for people; empty: nothing. */
    public static Optional<String> at(Lanes lanes, Ledger ledger, JdbcClient jdbc)
            throws RemoteException, InterruptedException {
        return at(SiteReader.readOnly(lanes, Patience.USUAL), ledger, jdbc);
    }

    private static Optional<String> at(SiteReader reader, Ledger ledger, JdbcClient jdbc)
            throws RemoteException, InterruptedException {
        Map<String, Integer> ahead = isOlder(reader, ledger) ? ahead(reader, jdbc) : Map.of();
        if (ahead.isEmpty()) {
            return Optional.empty();
        }
        int manifests = ahead.values().stream().mapToInt(Integer::intValue).sum();
        return Optional.of(
                "the site has %s of %s that this database does not know, such as %s: an older database was put back"
                        .formatted(
                                counted(manifests, "manifest"),
                                counted(ahead.size(), "experiment"),
                                ahead.keySet().iterator().next()));
    }

    private static String counted(int count, String what) {
        return count == 1 ? "1 " + what : "%,d %ss".formatted(count, what);
    }

    /**
     * Returns whether a backup may write records and an anchor. The first one that finds the site ahead may not, nor a retry: the last
     * records at the site stay the ones that a rebuild loads.
     */
    boolean mayRecord(long runId, int siteId) {
        return !isAhead(runId)
                || jdbc.sql("""
                        select now.kind not in ('retry', 'chosen')
                           and exists (select from run_finding l join finding f using (finding_id)
                                       where f.reason = 'SITE_AHEAD'
                                         and l.run_id = (select max(run_id) from run
                                                         where site_id = :site and kind not in ('retry', 'chosen', 'scrub', 'homeScrub') and run_id < :run))
                        from run now where now.run_id = :run
                        """)
                        .param("site", siteId)
                        .param("run", runId)
                        .query(Boolean.class)
                        .single();
    }

    /**
     * Searches for copies elsewhere in the site's folders of an experiment, see {@link SiteReader#search}. If the run has found the
     * site ahead, a later manifest may have replaced what should be in the bag.
     */
    List<Seen> search(long runId, SiteReader reader, SiteFolders folders, List<Seen> seen)
            throws RemoteException, InterruptedException {
        boolean any = seen.stream().anyMatch(Seen.Damaged.class::isInstance);
        return any ? reader.search(folders, seen, isAhead(runId)) : seen;
    }

    boolean isAhead(long runId) {
        return jdbc.sql("""
                        select exists (select from run_finding join finding using (finding_id)
                                       where run_finding.run_id = :run and reason = 'SITE_AHEAD')
                        """).param("run", runId).query(Boolean.class).single();
    }

    /** Returns whether the ledger lacks the row of the last anchor, although it began before. */
    private static boolean isOlder(SiteReader reader, Ledger ledger) throws RemoteException, InterruptedException {
        List<FilePath> last = reader.names(Anchor.FOLDER).keySet().stream()
                .filter(file -> Anchor.seq(file).isPresent())
                .sorted(Comparator.comparing((FilePath file) -> Anchor.seq(file).orElseThrow())
                        .reversed())
                .limit(ANCHORS_MAX)
                .toList();
        Map<FilePath, byte[]> contents = reader.contents(last, Anchor.LINE_BYTES_MAX);
        Optional<Anchor> anchor = last.stream()
                .flatMap(file -> Anchor.of(contents.getOrDefault(file, new byte[0])).stream())
                .findFirst();
        if (anchor.isEmpty()) {
            return false;
        }
        Map<Long, Anchor> rows = ledger.rows(List.of(1L, anchor.get().seq()));
        Anchor first = rows.get(1L);
        return first != null
                && !first.at().isAfter(anchor.get().at())
                && !anchor.get().equals(rows.get(anchor.get().seq()));
    }

    /** Returns for each experiment how many manifests the bag is ahead, if it is; none of an erased one. */
    private static Map<String, Integer> ahead(SiteReader reader, JdbcClient jdbc)
            throws RemoteException, InterruptedException {
        Map<String, Integer> known = new HashMap<>();
        jdbc.sql("""
                        select p.code || '/' || e.code as name,
                               coalesce((select max(manifest_no) from manifest m where m.experiment_id = e.experiment_id), 0) as manifest
                        from experiment e join project p using (project_id)
                        union all
                        select p.code || '/' || x.code, 2147483647
                        from erasure x join project p using (project_id) where x.begun_at is not null
                        """).query(row -> {
            known.put(row.getString("name"), row.getInt("manifest"));
        });
        List<FilePath> bags = new ArrayList<>();
        for (FilePath project : folders(reader, FilePath.ROOT)) {
            bags.addAll(folders(reader, project));
        }
        Map<String, Integer> ahead = new TreeMap<>();
        for (int i = 0; i < bags.size(); i += BATCH) {
            List<FilePath> infos = bags.subList(i, Math.min(bags.size(), i + BATCH)).stream()
                    .map(bag -> bag.resolve(TagFiles.INFO))
                    .toList();
            reader.contents(infos, INFO_BYTES_MAX).forEach((info, content) -> {
                String name = info.parent().toString();
                int more = TagFiles.manifest(content) - known.getOrDefault(name, 0);
                if (more > 0) {
                    ahead.put(name, more);
                }
            });
        }
        return ahead;
    }

    private static List<FilePath> folders(SiteReader reader, FilePath folder)
            throws RemoteException, InterruptedException {
        List<FilePath> folders = new ArrayList<>();
        reader.names(folder).forEach((path, facts) -> {
            if (facts.kind() == Kind.DIRECTORY && Code.isCode(FilePath.render(path.name()))) {
                folders.add(path);
            }
        });
        return folders;
    }
}
