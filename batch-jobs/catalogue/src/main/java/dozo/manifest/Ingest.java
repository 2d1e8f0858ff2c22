package dozo.manifest;

import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.file.Size;
import dozo.ledger.Findings.Finding;
import dozo.ledger.Ledger;
import dozo.manifest.Differences.Counts;
import dozo.manifest.FolderLoad.Sums;
import dozo.manifest.Freezes.Freeze;
import dozo.manifest.Manifests.Manifest;
import dozo.manifest.Tripwire.Lost;
import dozo.registry.Experiments.Experiment;
import dozo.registry.SourceList;
import dozo.source.Crawl;
import dozo.source.FileList;
import dozo.source.Listed;
import dozo.source.Listings;
import dozo.source.OpenFile;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/**
 * Looks at an experiment's source and seals what is there as its next manifest. Nothing new, changed or gone: no new
 * manifest. Files are not opened here; their digests are taken when they are read, which is when they are sent. What a look
 * costs beside the walk itself grows with the folders, by a comparison each, and with the entries of those that changed.
 */
@Component
@EnableConfigurationProperties(IngestSettings.class)
public class Ingest {

    private final JdbcTemplate template;
    private final JdbcClient jdbc;
    private final Manifests manifests;
    private final Freezes freezes;
    private final Ledger ledger;
    private final InstantSource clock;
    private final IngestSettings settings;

    /**
     * What came of it.
     *
     * @param sealed whether there is a new manifest
     */
    public record Ingested(boolean sealed, List<Finding> findings) {}

    /** Tells what a source holds, folder by folder, until all is told. */
    @FunctionalInterface
    public interface Walk {
        /**
         * Tells all of it.
         *
         * @throws IOException what the listings throw, or when the source itself cannot be read
         */
        void tell(Listings listings) throws IOException, InterruptedException;
    }

    /** Tells what a source holds, in any order. */
    @FunctionalInterface
    public interface EntryList {
        /**
         * Tells all of it.
         *
         * @throws IOException what {@code listed} throws, or when the list cannot be read
         */
        void tell(Listed listed) throws IOException, InterruptedException;
    }

    @FunctionalInterface
    private interface Telling {
        void tell(Connection connection, FolderLoad load) throws IOException, InterruptedException, SQLException;
    }

    public Ingest(
            JdbcTemplate template,
            Manifests manifests,
            Freezes freezes,
            Ledger ledger,
            InstantSource clock,
            IngestSettings settings) {
        this.template = template;
        this.jdbc = JdbcClient.create(template);
        this.manifests = manifests;
        this.freezes = freezes;
        this.ledger = ledger;
        this.clock = clock;
        this.settings = settings;
    }

    /** Looks at the source, or reads its list, and seals what is there, in one transaction: all of it or nothing. */
    @Transactional
    public Ingested ingest(Experiment experiment) {
        if (!Files.isDirectory(experiment.source())) {
            return missing(
                    experiment,
                    "folder %s does not exist; is its file system mounted?".formatted(shown(experiment.source())));
        }
        SourceList list = experiment.list();
        return list == null ? ingest(experiment, new Crawl(experiment.opened())::into) : ingest(experiment, list);
    }

    private Ingested ingest(Experiment experiment, SourceList list) {
        // NB: to open anything but a file, a fifo for one, could wait for ever.
        if (!Files.isRegularFile(list.file())) {
            return missing(experiment, "list %s does not exist; has it been created?".formatted(shown(list.file())));
        }
        FileList form = switch (list.form()) {
            case FIND -> FileList.byFind(experiment.source());
            case POLICY -> FileList.byPolicy(experiment.source());
        };
        Ingested ingested = ingestList(experiment, listed -> {
            try (OpenFile file = OpenFile.open(list.opened(), FilePath.ROOT);
                    InputStream lines = file.stream()) {
                form.into(listed, lines);
            }
        });
        Optional<Finding> old = old(experiment, list);
        if (old.isEmpty()) {
            return ingested;
        }
        List<Finding> findings = new ArrayList<>(ingested.findings());
        findings.add(old.get());
        return new Ingested(ingested.sealed(), findings);
    }

    /** What an old list says is sealed, for it was so once; but nobody may take it for all that there is. */
    private Optional<Finding> old(Experiment experiment, SourceList list) {
        Instant made;
        try {
            made = Files.getLastModifiedTime(list.file()).toInstant();
        } catch (IOException e) {
            return Optional.of(finding(experiment, Problem.LIST_OLD, "the age of the list is unknown: " + e));
        }
        if (!made.isBefore(clock.instant().minus(settings.listAgeMax()))) {
            return Optional.empty();
        }
        return Optional.of(finding(
                experiment,
                Problem.LIST_OLD,
                "the list %s is of %s: what came since is not looked at; does what makes it still run?"
                        .formatted(shown(list.file()), made.truncatedTo(ChronoUnit.SECONDS))));
    }

    /** Seals what a walk tells. */
    @Transactional
    public Ingested ingest(Experiment experiment, Walk walk) {
        return seal(experiment, (connection, load) -> walk.tell(load));
    }

    /** Seals what a list tells that was made elsewhere. It is sorted by folder first, in the database. */
    @Transactional
    public Ingested ingestList(Experiment experiment, EntryList list) {
        return seal(experiment, (connection, load) -> {
            LooseEntries entries = new LooseEntries(connection, experiment.source(), load);
            list.tell(entries);
            entries.tellByFolder();
        });
    }

    private Ingested seal(Experiment experiment, Telling telling) {
        Optional<Manifest> before = manifests.current(experiment.id());
        jdbc.sql("savepoint before_ingest").update();
        Differences.createTables(jdbc);
        FolderLoad load = load(experiment, before.isEmpty(), telling);
        if (load.nothingKnown()) {
            return refused(
                    load,
                    finding(
                            experiment,
                            Problem.UNREADABLE,
                            "%s cannot be read by the service's user".formatted(toldBy(experiment))));
        }
        if (load.sums().entries() == 0) {
            return refused(
                    load,
                    finding(
                            experiment,
                            Problem.SOURCE_EMPTY,
                            "%s holds nothing that could be backed up; is its file system mounted?"
                                    .formatted(toldBy(experiment))));
        }
        return before.isEmpty() ? sealFirst(experiment, load) : compare(experiment, before.get(), load);
    }

    private FolderLoad load(Experiment experiment, boolean first, Telling telling) {
        return template.execute((ConnectionCallback<FolderLoad>) connection -> {
            FolderLoad load = new FolderLoad(connection, experiment.id(), first);
            try {
                telling.tell(connection, load);
                load.finish();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new InterruptedIngest(e);
            } catch (IOException e) {
                if (e.getCause() instanceof SQLException database) {
                    throw database;
                }
                load.unreadableSource(e);
            }
            return load;
        });
    }

    private Ingested sealFirst(Experiment experiment, FolderLoad load) {
        Sums sums = load.sums();
        Counts counts = new Counts(
                Math.toIntExact(sums.entries()),
                0,
                0,
                0,
                sums.files,
                sums.bytes,
                sums.folders,
                sums.links,
                Lost.NOTHING);
        seal(experiment, Manifest.none(experiment.id()), counts);
        return new Ingested(true, load.findings());
    }

    private Ingested compare(Experiment experiment, Manifest before, FolderLoad load) {
        GoneFolders.find(template, experiment.id(), load);
        Differences differences = new Differences(jdbc, experiment.id());
        differences.find(load.unreadable());
        Counts counts = differences.count();
        Optional<Freeze> freeze = freezes.find(experiment.id());
        if (holds(experiment, before, counts, freeze)) {
            return frozen(experiment, before, counts, load);
        }
        freeze.ifPresent(released -> freezes.end(experiment.id()));
        if (!counts.none()) {
            differences.apply(before.number() + 1);
            seal(experiment, before, counts);
        }
        differences.keepFolders();
        return new Ingested(!counts.none(), load.findings());
    }

    /** A release is for what was lost by then. */
    private boolean holds(Experiment experiment, Manifest before, Counts counts, Optional<Freeze> freeze) {
        if (freeze.isPresent() && !freeze.get().released()) {
            return true;
        }
        Lost released = freeze.map(Freeze::lost).orElse(Lost.NOTHING);
        return freezes.tripwire(experiment.id()).holds(before, counts.lost().since(released));
    }

    /** Nothing of what was told stays in the catalogue, so that the next look compares with the same manifest again. */
    private Ingested frozen(Experiment experiment, Manifest before, Counts counts, FolderLoad load) {
        jdbc.sql("rollback to savepoint before_ingest").update();
        String message =
                ("%,d of %,d files and links vanished or changed (%s of %s) since manifest %d; %,d entries are new. "
                                + "Nothing was sealed. Nothing is sent until the experiment is released: dozo release %s")
                        .formatted(
                                counts.lost().entries(),
                                before.files() + before.links(),
                                Size.text(counts.lost().bytes()),
                                Size.text(before.bytes()),
                                before.number(),
                                counts.added(),
                                experiment.name());
        freezes.freeze(experiment, before.number(), counts.lost(), message);
        List<Finding> findings = new ArrayList<>();
        findings.add(new Finding(experiment.id(), Problem.FROZEN, null, message));
        findings.addAll(load.findings());
        return new Ingested(false, findings);
    }

    private void seal(Experiment experiment, Manifest before, Counts counts) {
        Manifest manifest = manifests.seal(before, counts, clock.instant());
        ledger.append(
                Ledger.SYSTEM,
                "manifest.sealed",
                experiment.name() + "#" + manifest.number(),
                Map.of(
                        "files", manifest.files(),
                        "bytes", manifest.bytes(),
                        "folders", manifest.folders(),
                        "links", manifest.links(),
                        "new", counts.added(),
                        "changed", counts.changed(),
                        "type_changed", counts.typeChanged(),
                        "gone", counts.gone()));
    }

    /**
     * Nothing is sealed: what is not known of the source is never taken for its end. What the crawl found until then comes
     * after the refusal: it often says why there was nothing to seal.
     */
    private Ingested refused(FolderLoad load, Finding refusal) {
        jdbc.sql("rollback to savepoint before_ingest").update();
        List<Finding> findings = new ArrayList<>();
        findings.add(refusal);
        findings.addAll(load.findings());
        return new Ingested(false, findings);
    }

    private static Ingested missing(Experiment experiment, String message) {
        return new Ingested(false, List.of(finding(experiment, Problem.SOURCE_MISSING, message)));
    }

    private static Finding finding(Experiment experiment, Problem problem, String message) {
        return new Finding(experiment.id(), problem, null, message);
    }

    private static String toldBy(Experiment experiment) {
        SourceList list = experiment.list();
        return list == null ? "the folder " + shown(experiment.source()) : "the list " + shown(list.file());
    }

    private static String shown(Path path) {
        return FilePath.render(FilePath.rawBytes(path));
    }

    /** The thread was asked to stop: the transaction goes, the run is gone on with later. */
    private static final class InterruptedIngest extends RuntimeException {

        private static final long serialVersionUID = 1L;

        InterruptedIngest(InterruptedException cause) {
            super(cause);
        }
    }
}
