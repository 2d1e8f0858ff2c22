package dozo.manifest;

import static dozo.registry.GivenPaths.shown;

import dozo.file.FilePath;
import dozo.file.Owner;
import dozo.file.Problem;
import dozo.file.Zoned;
import dozo.ledger.Findings.Finding;
import dozo.ledger.Ledger;
import dozo.registry.Experiments.Experiment;
import dozo.registry.SourceKind;
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
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * Reads an experiment's source and seals it as the next manifest. If nothing is new, changed or gone, nothing is
 * written. Files are not opened here: their digests are computed when they are read for sending. Besides the walk
 * itself, a look costs a comparison for each folder and for each entry of a changed folder.
 */
@Component
@EnableConfigurationProperties(IngestSettings.class)
public class Ingest {

    private final JdbcTemplate template;
    private final InstantSource clock;
    private final IngestSettings settings;
    private final Sealing sealing;

    /** Reports what a source contains, folder by folder. */
    @FunctionalInterface
    public interface Walk {
        /**
         * Reports everything.
         *
         * @throws IOException what the listings throw, or if the source itself cannot be read
         */
        void tell(Listings listings) throws IOException, InterruptedException;
    }

    /** Reports what a source contains, in any order. */
    @FunctionalInterface
    public interface EntryList {
        /**
         * Reports everything.
         *
         * @throws IOException what {@code listed} throws, or if the list cannot be read
         */
        void tell(Listed listed) throws IOException, InterruptedException;
    }

    public Ingest(
            JdbcTemplate template,
            Manifests manifests,
            Freezes freezes,
            Ledger ledger,
            InstantSource clock,
            IngestSettings settings) {
        this.template = template;
        this.clock = clock;
        this.settings = settings;
        this.sealing = new Sealing(template, manifests, freezes, ledger, clock);
    }

    /** Returns what the database knows of experiments, by id. A look compares the source with this state. */
    public Map<Integer, Known> known(int[] experimentIds) {
        Map<Integer, Known> known = new HashMap<>();
        JdbcClient.create(template)
                .sql("""
                        select e.id, m.*, d.there, d.last_folder, o.uid, o.gid,
                               exists (select from frozen_experiment f where f.experiment_id = e.id and f.ended_at is null) as freeze
                        from unnest(:experiments::integer[]) as e (id)
                        left join lateral (select * from manifest where experiment_id = e.id
                                           order by manifest_no desc limit 1) m on true
                        left join experiment_owner o on o.experiment_id = e.id
                        cross join lateral (
                            select count(entries) as there,
                                   coalesce(greatest(max(directory_no), -min(directory_no)), 0) as last_folder
                            from directory where experiment_id = e.id) d
                        """)
                .param("experiments", experimentIds)
                .query((row, n) -> known.put(
                        row.getInt("id"),
                        new Known(
                                row.getObject("manifest_no") == null ? null : Manifests.MANIFEST.mapRow(row, n),
                                row.getLong("there"),
                                row.getInt("last_folder"),
                                row.getObject("uid") == null ? null : new Owner(row.getLong("uid"), row.getLong("gid")),
                                row.getBoolean("freeze"))))
                .list();
        return known;
    }

    /**
     * Reads the source or its list. Writes nothing to the database and holds no transaction open;
     * {@link SourceLook#seal} seals the result.
     *
     * @param known of the experiment, from {@link #known}
     * @param told grows as long as the source responds
     * @throws InterruptedException if this thread is interrupted: then nothing is known
     */
    public SourceLook look(Experiment experiment, Known known, LongAdder told) throws InterruptedException {
        if (experiment.kind() == SourceKind.NONE) {
            return missing(
                    experiment,
                    "the source is unknown since the catalogue was rebuilt from the site, so nothing new is backed up;"
                            + " register %s again with its folder".formatted(experiment.name()));
        }
        if (!Files.isDirectory(experiment.source())) {
            return missing(
                    experiment,
                    "folder %s does not exist; is its file system mounted?".formatted(shown(experiment.source())));
        }
        SourceList list = experiment.list();
        return list == null
                ? take(experiment, known, experiment.opened(), new Crawl(experiment.opened())::into, told)
                : look(experiment, known, list, told);
    }

    private SourceLook look(Experiment experiment, Known known, SourceList list, LongAdder told)
            throws InterruptedException {
        // NB: opening anything but a regular file, such as a FIFO, could block for ever.
        if (!Files.isRegularFile(list.file())) {
            return missing(experiment, "list %s does not exist; has it been created?".formatted(shown(list.file())));
        }
        FileList form = switch (list.form()) {
            case FIND -> FileList.byFind(experiment.source());
            case POLICY -> FileList.byPolicy(experiment.source());
        };
        SourceLook look = lookAtList(
                experiment,
                known,
                listed -> {
                    try (OpenFile file = OpenFile.open(list.opened(), FilePath.ROOT);
                            InputStream lines = file.stream()) {
                        form.into(listed, lines);
                    }
                },
                told);
        old(experiment, list).ifPresent(look::add);
        return look;
    }

    /** Reports an old list. Its content is sealed, because it was true once, but it may be incomplete. */
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
                "list %s was last written at %s; newer files are not backed up. Check that the program that writes it still runs"
                        .formatted(shown(list.file()), Zoned.text(made))));
    }

    /** Reads a source through a walk, without extended attributes. */
    public SourceLook look(Experiment experiment, Known known, Walk walk, LongAdder told) throws InterruptedException {
        return take(experiment, known, null, walk, told);
    }

    /** Reads a source through a list that was made elsewhere. The database first sorts it by folder. */
    public SourceLook lookAtList(Experiment experiment, Known known, EntryList list, LongAdder told)
            throws InterruptedException {
        return take(
                experiment,
                known,
                null,
                load -> {
                    try (LooseEntries entries = new LooseEntries(template, experiment.source(), load, told)) {
                        list.tell(entries);
                        entries.tellByFolder();
                    }
                },
                told);
    }

    /** @param source where extended attributes are read; null: they are not */
    private SourceLook take(Experiment experiment, Known known, @Nullable Path source, Walk walk, LongAdder told)
            throws InterruptedException {
        FolderLoad load = new FolderLoad(template, experiment.id(), known, source, told);
        SourceLook look = new SourceLook(sealing, experiment, known, load);
        try {
            walk.tell(load);
            load.finish();
        } catch (IOException e) {
            load.unreadableSource(e);
        } catch (InterruptedException | RuntimeException e) {
            look.close();
            throw e;
        }
        if (load.nothingKnown()) {
            look.refuse(finding(
                    experiment,
                    Problem.UNREADABLE,
                    "%s cannot be read by the service's user".formatted(toldBy(experiment))));
        } else if (load.sums().entries() == 0) {
            look.refuse(finding(
                    experiment,
                    Problem.SOURCE_EMPTY,
                    "%s contains nothing to back up; is its file system mounted?".formatted(toldBy(experiment))));
        }
        return look;
    }

    private SourceLook missing(Experiment experiment, String message) {
        SourceLook look = new SourceLook(sealing, experiment, Known.NOTHING, null);
        look.refuse(finding(experiment, Problem.SOURCE_MISSING, message));
        return look;
    }

    private static Finding finding(Experiment experiment, Problem problem, String message) {
        return new Finding(experiment.id(), problem, null, message);
    }

    private static String toldBy(Experiment experiment) {
        SourceList list = experiment.list();
        return list == null ? "the folder " + shown(experiment.source()) : "the list " + shown(list.file());
    }
}
