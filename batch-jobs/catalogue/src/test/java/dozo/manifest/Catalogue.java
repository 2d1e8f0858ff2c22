package dozo.manifest;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.db.TestDatabase;
import dozo.file.EntryKind;
import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.ledger.Ledger;
import dozo.ledger.Sight;
import dozo.manifest.Ingest.Walk;
import dozo.manifest.SourceLook.Ingested;
import dozo.registry.Acquisition;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Projects;
import dozo.registry.SourceList;
import dozo.source.Listings;
import dozo.source.Listings.Listing;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** A catalogue in its own database, with one experiment whose source is made up. */
final class Catalogue {

    final JdbcClient jdbc;
    final Projects projects;
    final Manifests manifests;
    final ChangeSummary summaries;
    final Freezes freezes;
    final Ingest ingest;
    final Experiment experiment;
    Instant now = Instant.parse("2026-11-01T00:00:00Z");

    /** Tests that do not check the age write their lists by the machine's clock. */
    private static final IngestSettings LISTS_OF_A_YEAR =
            new IngestSettings(Duration.ofDays(366), 4, Duration.ofMinutes(10), true, false);

    final TransactionTemplate transaction;
    private final Experiments experiments;

    Catalogue(Path source) {
        this(source, null);
    }

    Catalogue(Path source, @Nullable SourceList list) {
        var database = TestDatabase.fresh();
        JdbcTemplate template = new JdbcTemplate(database);
        jdbc = JdbcClient.create(template);
        Ledger ledger = new Ledger(jdbc, () -> now);
        projects = new Projects(jdbc, ledger, () -> now);
        manifests = new Manifests(jdbc);
        summaries = new ChangeSummary(jdbc);
        freezes = new Freezes(jdbc, ledger, () -> now);
        ingest = new Ingest(template, manifests, freezes, ledger, () -> now, LISTS_OF_A_YEAR);
        transaction = new TransactionTemplate(new JdbcTransactionManager(database));
        projects.create("p", "", "test");
        experiments = new Experiments(jdbc, projects, ledger, () -> now);
        experiment = experiments.register(Sight.EVERYTHING, "p", "E", "", source, list, Acquisition.UNKNOWN, "test");
    }

    /** Reads the source again, a day after the last look. */
    Ingested night(Walk walk) {
        return night(() -> ingest.look(experiment, known(), walk, new LongAdder()));
    }

    Ingested nightOfList(Ingest.EntryList list) {
        return night(() -> ingest.lookAtList(experiment, known(), list, new LongAdder()));
    }

    Ingested night() {
        return night(new LongAdder());
    }

    /** @param told counts what the source was asked for */
    Ingested night(LongAdder told) {
        return night(() -> ingest.look(experiment, known(), told));
    }

    /** Registers another experiment of the project. */
    Experiment another(String code) {
        Path source = experiment.source().resolveSibling(code);
        assertThat(source.toFile().mkdir()).isTrue();
        return experiments.register(Sight.EVERYTHING, "p", code, "", source, null, Acquisition.UNKNOWN, "test");
    }

    /** Reads one of several experiments, in the present night. */
    Ingested look(Experiment one, Walk walk) {
        return seal(() -> ingest.look(one, known(one), walk, new LongAdder()));
    }

    private Known known() {
        return known(experiment);
    }

    private Known known(Experiment one) {
        return ingest.known(new int[] {one.id()}).get(one.id());
    }

    private Ingested night(Callable<SourceLook> looking) {
        now = now.plusSeconds(86_400);
        return seal(looking);
    }

    private Ingested seal(Callable<SourceLook> looking) {
        try (SourceLook look = looking.call()) {
            return transaction.execute(status -> look.seal());
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    long count(String sql) {
        return jdbc.sql(sql).query((row, n) -> row.getLong(1)).single();
    }

    /** Returns the last manifest's counts: new, changed, changed in type, gone. */
    List<Long> lastDifferences() {
        return jdbc.sql("""
                        select entries_new, entries_changed, entries_type_changed, entries_gone from manifest
                        order by manifest_no desc limit 1
                        """)
                .query((row, n) -> List.of(row.getLong(1), row.getLong(2), row.getLong(3), row.getLong(4)))
                .single();
    }

    /** Returns the content of a manifest: paths, with sizes after a colon. */
    List<String> holds(int manifest) {
        return jdbc.sql("""
                        select entry_path(d.path, e.name) as path, e.size_bytes
                        from entry_version e join directory d using (experiment_id, directory_no)
                        where since_manifest <= :manifest and (until_manifest is null or until_manifest > :manifest)
                        order by 1
                        """)
                .param("manifest", manifest)
                .query((row, n) -> FilePath.of(row.getBytes(1)) + ":" + row.getLong(2))
                .list();
    }

    static Facts file(long sizeBytes, long modifiedNanos) {
        return new Facts(EntryKind.FILE, sizeBytes, modifiedNanos, 7, 0644, null, null);
    }

    static Facts folder() {
        return new Facts(EntryKind.DIRECTORY, 0, 1, 7, 0755, null, null);
    }

    /** A source in memory; folders exist by their files, or by themselves. */
    static final class Tree implements Walk {

        private final Map<FilePath, Facts> entries = new TreeMap<>();
        private final List<Throwing> before = new ArrayList<>();

        interface Throwing {
            void tell(Listings listings) throws IOException, InterruptedException;
        }

        Tree put(String path, long sizeBytes, long modifiedNanos) {
            return put(FilePath.of(path), file(sizeBytes, modifiedNanos));
        }

        Tree put(FilePath path, Facts facts) {
            for (FilePath above = path.parent(); !above.isRoot(); above = above.parent()) {
                entries.putIfAbsent(above, folder());
            }
            entries.put(path, facts);
            return this;
        }

        Tree remove(String path) {
            entries.keySet().removeIf(each -> each.startsWith(FilePath.of(path)));
            return this;
        }

        /** Adds a report before all others. */
        Tree first(Throwing telling) {
            before.add(telling);
            return this;
        }

        Map<FilePath, Facts> entries() {
            return entries;
        }

        @Override
        public void tell(Listings listings) throws IOException, InterruptedException {
            for (Throwing telling : before) {
                telling.tell(listings);
            }
            tell(listings, FilePath.ROOT);
            for (Map.Entry<FilePath, Facts> entry : entries.entrySet()) {
                if (entry.getValue().kind() == EntryKind.DIRECTORY) {
                    tell(listings, entry.getKey());
                }
            }
        }

        private void tell(Listings listings, FilePath folder) throws IOException, InterruptedException {
            Listing listing = listings.folder(folder);
            for (Map.Entry<FilePath, Facts> entry : entries.entrySet()) {
                if (!entry.getKey().isRoot() && entry.getKey().parent().equals(folder)) {
                    listing.entry(entry.getKey().name(), entry.getValue());
                }
            }
            listing.end();
        }
    }
}
