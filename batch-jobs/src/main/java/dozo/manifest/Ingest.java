package dozo.manifest;

import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.ledger.Findings.Finding;
import dozo.ledger.Ledger;
import dozo.manifest.Manifests.Manifest;
import dozo.registry.Experiments.Experiment;
import dozo.source.DirectoryTree;
import java.io.IOException;
import java.nio.file.Files;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/**
 * Looks at an experiment's source and seals what is there as its next manifest. Nothing new, changed or gone: no new
 * manifest. Files are not opened here; their digests are taken when they are read, which is when they are sent.
 */
@Component
public class Ingest {

    /** A finding each is kept up to here; what comes after is counted in one more. */
    private static final int FINDINGS_MAX = 10_000;

    private final JdbcTemplate template;
    private final JdbcClient jdbc;
    private final Manifests manifests;
    private final Ledger ledger;
    private final InstantSource clock;

    /**
     * What came of it.
     *
     * @param sealed whether there is a new manifest
     */
    public record Ingested(boolean sealed, List<Finding> findings) {}

    public Ingest(JdbcTemplate template, Manifests manifests, Ledger ledger, InstantSource clock) {
        this.template = template;
        this.jdbc = JdbcClient.create(template);
        this.manifests = manifests;
        this.ledger = ledger;
        this.clock = clock;
    }

    /** Looks at the source and seals what is there, in one transaction: all of it or nothing. */
    @Transactional
    public Ingested ingest(Experiment experiment) {
        if (!Files.isDirectory(experiment.source())) {
            return refused(
                    experiment,
                    Problem.SOURCE_MISSING,
                    "there is no folder %s; is its file system mounted?",
                    List.of());
        }
        createCrawlTable();
        Crawl crawl = new Crawl(experiment);
        try {
            template.execute((ConnectionCallback<Void>) crawl::load);
        } catch (UnreadableRoot e) {
            return refused(
                    experiment,
                    Problem.UNREADABLE,
                    "the folder %s cannot be read by the service's user",
                    crawl.findings());
        }
        if (crawl.entries == 0) {
            return refused(
                    experiment,
                    Problem.SOURCE_EMPTY,
                    "the folder %s holds nothing that could be backed up; is its file system mounted?",
                    crawl.findings());
        }
        numberDirectories(experiment.id());
        return compare(experiment, manifests.current(experiment.id()), crawl);
    }

    private Ingested compare(Experiment experiment, Optional<Manifest> before, Crawl crawl) {
        int id = experiment.id();
        int next = before.map(Manifest::number).orElse(0) + 1;
        findDifferences(id);
        int gone = endGone(id, next, crawl.unreadable);
        int changed = endChanged(id, next);
        int added = addNewAndChanged(id, next) - changed;
        if (before.isPresent() && added + changed + gone == 0) {
            return new Ingested(false, crawl.findings());
        }
        Manifest manifest = manifests.seal(id, next, clock.instant(), added, changed, gone);
        ledger.append(
                Ledger.SYSTEM,
                "manifest.sealed",
                experiment.name() + "#" + next,
                Map.of(
                        "files", manifest.files(),
                        "bytes", manifest.bytes(),
                        "folders", manifest.folders(),
                        "links", manifest.links(),
                        "new", added,
                        "changed", changed,
                        "gone", gone));
        return new Ingested(true, crawl.findings());
    }

    /**
     * Nothing is sealed: what is not known of the source is never taken for its end. What the crawl found until then comes
     * after the refusal: it often says why there was nothing to seal.
     */
    private static Ingested refused(Experiment experiment, Problem problem, String message, List<Finding> crawled) {
        List<Finding> findings = new ArrayList<>();
        findings.add(new Finding(
                experiment.id(),
                problem,
                null,
                message.formatted(FilePath.render(FilePath.rawBytes(experiment.source())))));
        findings.addAll(crawled);
        return new Ingested(false, findings);
    }

    private void createCrawlTable() {
        jdbc.sql("drop table if exists crawl").update();
        jdbc.sql("""
                create temporary table crawl (
                    ordinal integer not null,
                    directory bytea not null,
                    name bytea not null,
                    kind "char" not null,
                    size_bytes bigint not null,
                    modified_ns bigint not null,
                    changed_ns bigint not null,
                    mode smallint not null,
                    hard_link bigint,
                    link_target bytea
                ) on commit drop
                """).update();
    }

    /** Gives a number to every folder that has entries and has none yet. */
    private void numberDirectories(int experimentId) {
        jdbc.sql("analyze crawl").update();
        jdbc.sql("""
                        insert into directory (experiment_id, directory_no, path)
                        select :experiment,
                               (select coalesce(max(directory_no), 0) from directory where experiment_id = :experiment)
                                   + row_number() over (order by min(c.ordinal)),
                               c.directory
                        from crawl c
                        where not exists (select from directory d
                                          where d.experiment_id = :experiment and sha256(d.path) = sha256(c.directory))
                        group by c.directory
                        """).param("experiment", experimentId).update();
    }

    /**
     * Puts the crawl beside the current entries by folder and name: {@code difference} has a row for every name that is not
     * the same on both sides, with the number of the entry that held (null: new) and the crawl's row (null: gone).
     */
    private void findDifferences(int experimentId) {
        jdbc.sql("drop table if exists difference").update();
        jdbc.sql("""
                        create temporary table difference on commit drop as
                        select e.entry_no, c.ordinal, coalesce(e.directory_no, c.directory_no) as directory_no, e.path
                        from (select e.*, entry_path(d.path, e.name) as path
                              from entry e join directory d using (experiment_id, directory_no)
                              where e.experiment_id = :experiment and e.until_manifest is null) e
                        full join (select c.*, d.directory_no
                                   from crawl c join directory d
                                     on d.experiment_id = :experiment and sha256(d.path) = sha256(c.directory)) c
                          on c.directory_no = e.directory_no and c.name = e.name
                        where (e.kind, e.size_bytes, e.modified_ns, e.mode, e.hard_link, e.link_target)
                            is distinct from (c.kind, c.size_bytes, c.modified_ns, c.mode, c.hard_link, c.link_target)
                        """).param("experiment", experimentId).update();
    }

    /** Ends the entries that are not in the crawl, but for those below folders that could not be read: unknown is not gone. */
    private int endGone(int experimentId, int next, List<FilePath> unreadable) {
        return jdbc.sql("""
                        update entry e set until_manifest = :next
                        from difference d
                        where e.experiment_id = :experiment and e.entry_no = d.entry_no and d.ordinal is null
                          and not exists (select from unnest(:unreadable::bytea[]) u
                                          where d.path = u or substring(d.path for length(u) + 1) = u || '\\x2f'::bytea)
                        """)
                .param("experiment", experimentId)
                .param("next", next)
                .param("unreadable", unreadable.stream().map(FilePath::bytes).toArray(byte[][]::new))
                .update();
    }

    private int endChanged(int experimentId, int next) {
        return jdbc.sql("""
                        update entry e set until_manifest = :next
                        from difference d
                        where e.experiment_id = :experiment and e.entry_no = d.entry_no and d.ordinal is not null
                        """)
                .param("experiment", experimentId)
                .param("next", next)
                .update();
    }

    private int addNewAndChanged(int experimentId, int next) {
        return jdbc.sql("""
                        insert into entry (experiment_id, entry_no, directory_no, since_manifest, size_bytes, modified_ns,
                                           changed_ns, hard_link, mode, kind, name, link_target)
                        select :experiment,
                               (select coalesce(max(entry_no), 0) from entry where experiment_id = :experiment)
                                   + row_number() over (order by c.ordinal),
                               d.directory_no, :next, c.size_bytes, c.modified_ns, c.changed_ns, c.hard_link, c.mode, c.kind,
                               c.name, c.link_target
                        from difference d join crawl c using (ordinal)
                        """)
                .param("experiment", experimentId)
                .param("next", next)
                .update();
    }

    /** The source's own folder could not be read. */
    private static final class UnreadableRoot extends RuntimeException {

        private static final long serialVersionUID = 1L;

        UnreadableRoot(IOException cause) {
            super(cause);
        }
    }

    /** One walk of a source into the table {@code crawl}. */
    private static final class Crawl {

        private final Experiment experiment;
        private final List<Finding> findings = new ArrayList<>();
        private final List<FilePath> unreadable = new ArrayList<>();
        private long entries;
        private long findingsLeftOut;

        Crawl(Experiment experiment) {
            this.experiment = experiment;
        }

        Void load(Connection connection) throws SQLException {
            try (CrawlCopy copy = new CrawlCopy(connection)) {
                new DirectoryTree(experiment.source()).walk(new DirectoryTree.Visitor() {
                    @Override
                    public void entry(FilePath path, Facts facts) throws IOException {
                        copy.add(path, facts);
                        entries++;
                    }

                    @Override
                    public void problem(FilePath path, Problem problem, String message) {
                        note(path, problem, message);
                    }
                });
            } catch (IOException e) {
                if (e.getCause() instanceof SQLException database) {
                    throw database;
                }
                throw new UnreadableRoot(e);
            }
            return null;
        }

        List<Finding> findings() {
            if (findingsLeftOut == 0) {
                return findings;
            }
            List<Finding> all = new ArrayList<>(findings);
            all.add(new Finding(
                    experiment.id(), Problem.UNREADABLE, null, "and %d more of the kind".formatted(findingsLeftOut)));
            return all;
        }

        private void note(FilePath path, Problem problem, String message) {
            if (problem == Problem.UNREADABLE) {
                unreadable.add(path);
            }
            if (findings.size() < FINDINGS_MAX) {
                findings.add(new Finding(experiment.id(), problem, path, path + ": " + message));
            } else {
                findingsLeftOut++;
            }
        }
    }
}
