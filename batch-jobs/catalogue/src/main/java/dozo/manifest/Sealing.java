package dozo.manifest;

import static java.util.Objects.requireNonNull;

import dozo.file.Owner;
import dozo.file.Problem;
import dozo.file.Size;
import dozo.ledger.Failure;
import dozo.ledger.Findings.Finding;
import dozo.ledger.Ledger;
import dozo.ledger.Ledger.Subject;
import dozo.manifest.Differences.Counts;
import dozo.manifest.FolderLoad.Sums;
import dozo.manifest.Freezes.Freeze;
import dozo.manifest.Manifests.Manifest;
import dozo.manifest.Tripwire.Lost;
import dozo.registry.Experiments.Experiment;
import java.sql.Savepoint;
import java.sql.Timestamp;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;

/** Creates a manifest from a look at a source, or freezes the experiment. Runs in the caller's transaction. */
final class Sealing {

    /** What the ledger says of a manifest. */
    private static final List<String> TOLD =
            List.of("files", "bytes", "folders", "links", "new", "changed", "type_changed", "gone");

    private final JdbcTemplate template;
    private final JdbcClient jdbc;
    private final Manifests manifests;
    private final Freezes freezes;
    private final Ledger ledger;
    private final InstantSource clock;

    /** The look at an experiment without a manifest. */
    record First(Experiment experiment, FolderLoad load) {}

    /** A manifest to be sealed, as its difference from the one before. */
    private record Next(Experiment experiment, Manifest before, Counts counts) {

        int number() {
            return before.number() + 1;
        }

        long files() {
            return before.files() + counts.files();
        }

        long bytes() {
            return before.bytes() + counts.bytes();
        }

        long folders() {
            return before.folders() + counts.folders();
        }

        long links() {
            return before.links() + counts.links();
        }

        /** Returns the values of {@link #TOLD}. */
        Subject told() {
            return new Subject(
                    experiment.name() + "#" + number(),
                    Stream.of(
                                    files(),
                                    bytes(),
                                    folders(),
                                    links(),
                                    counts.added(),
                                    counts.changed(),
                                    counts.typeChanged(),
                                    counts.gone())
                            .map(String::valueOf)
                            .toList());
        }
    }

    Sealing(JdbcTemplate template, Manifests manifests, Freezes freezes, Ledger ledger, InstantSource clock) {
        this.template = template;
        this.jdbc = JdbcClient.create(template);
        this.manifests = manifests;
        this.freezes = freezes;
        this.ledger = ledger;
        this.clock = clock;
    }

    /**
     * Seals the next manifest if something differs.
     *
     * @param before the manifest that the look compared with
     * @param findings receives the finding if the experiment is frozen
     * @return whether there is a new manifest
     */
    boolean seal(Experiment experiment, Manifest before, FolderLoad load, Consumer<Finding> findings) {
        if (!manifests.current(experiment.id()).equals(Optional.of(before))) {
            throw new IllegalStateException("a manifest of %s was sealed in the meantime".formatted(experiment.name()));
        }
        return compare(experiment, before, load, findings);
    }

    /** Seals the first manifests of experiments. */
    void sealFirst(List<First> looks) {
        int[] ids = looks.stream().mapToInt(look -> look.experiment.id()).toArray();
        Map<Integer, Manifest> meanwhile = manifests.current(ids);
        if (!meanwhile.isEmpty()) {
            throw new IllegalStateException(
                    "manifests of experiments %s were sealed in the meantime".formatted(meanwhile.keySet()));
        }
        load(looks.stream().map(First::load).toList());
        keepOwners(looks);
        seal(looks.stream()
                .map(look -> new Next(look.experiment, Manifest.none(look.experiment.id(), 0), first(look.load.sums())))
                .toList());
    }

    /**
     * Seals what was found at a site as the first manifest that the catalogue has of an experiment, with the number that
     * it had in the lost catalogue: what later manifests replace must not get the numbers of stored versions.
     */
    void sealFound(Experiment experiment, int number, FolderLoad load) {
        if (manifests.current(experiment.id()).isPresent()) {
            throw new IllegalStateException("%s has a manifest".formatted(experiment.name()));
        }
        load(List.of(load));
        seal(List.of(new Next(experiment, Manifest.none(experiment.id(), number - 1), first(load.sums()))));
    }

    /** Compares with a manifest, which must be the current one, and changes nothing. What is unreadable counts as missing. */
    Comparison compare(Experiment experiment, Manifest before, FolderLoad load) {
        if (!manifests.current(experiment.id()).equals(Optional.of(before))) {
            return Comparison.failed("a manifest was sealed in the meantime");
        }
        Differences differences = differences(experiment, load);
        differences.find(Set.of(), load.rows());
        return differences.compared(before, load.sums().entries());
    }

    private Differences differences(Experiment experiment, FolderLoad load) {
        Differences.createTables(jdbc);
        load(List.of(load));
        GoneFolders.find(template, experiment.id(), load);
        return new Differences(jdbc, experiment.id(), load.newOwner() == null);
    }

    private boolean compare(Experiment experiment, Manifest before, FolderLoad load, Consumer<Finding> findings) {
        boolean ownersAreNew = load.newOwner() != null;
        Differences differences = differences(experiment, load);
        differences.find(load.unreadable(), load.rows());
        Counts counts = differences.count();
        Optional<Freeze> freeze = freezes.find(experiment.id());
        Hold hold = hold(experiment, before, counts, freeze);
        if (hold != Hold.NONE) {
            findings.accept(
                    frozen(experiment, before, counts, hold, load.unreadable().size()));
            return false;
        }
        freeze.ifPresent(released -> freezes.end(experiment.id()));
        if (ownersAreNew) {
            differences.keepOwners();
            keepOwner(experiment, load, before.number() + (counts.none() ? 0 : 1));
        }
        differences.keepLinks();
        if (!counts.none()) {
            differences.apply(before.number() + 1);
            seal(List.of(new Next(experiment, before, counts)));
        }
        differences.keepFolders();
        return !counts.none();
    }

    /**
     * Records the owner of all entries without a row of their own.
     *
     * @param unknownUntil nothing is known of entries that ended with this manifest, or before
     */
    private void keepOwner(Experiment experiment, FolderLoad load, int unknownUntil) {
        Owner owner = load.newOwner();
        if (owner != null) {
            jdbc.sql("insert into experiment_owner values (:experiment, :user, :group, :manifest)")
                    .params(Map.of("experiment", experiment.id(), "user", owner.user(), "group", owner.group()))
                    .param("manifest", unknownUntil)
                    .update();
        }
    }

    private void load(List<FolderLoad> loads) {
        template.execute((ConnectionCallback<@Nullable Void>) connection -> {
            FolderLoad.load(connection, loads);
            return null;
        });
    }

    private void keepOwners(List<First> looks) {
        List<First> known =
                looks.stream().filter(look -> look.load.newOwner() != null).toList();
        jdbc.sql("""
                        insert into experiment_owner
                        select *, 0 from unnest(:experiments::integer[], :users::bigint[], :groups::bigint[])
                        """)
                .param("experiments", values(known, look -> look.experiment.id()))
                .param(
                        "users",
                        values(
                                known,
                                look -> requireNonNull(look.load.newOwner()).user()))
                .param(
                        "groups",
                        values(
                                known,
                                look -> requireNonNull(look.load.newOwner()).group()))
                .update();
    }

    private static <T> long[] values(List<T> rows, ToLongFunction<T> value) {
        return rows.stream().mapToLong(value).toArray();
    }

    private static Counts first(Sums sums) {
        int added = Math.toIntExact(sums.entries());
        return new Counts(added, 0, 0, 0, sums.files, sums.bytes, sums.folders, sums.links, 0, 0, 0);
    }

    private enum Hold {
        NONE,
        EXPERIMENT,
        /** Other experiments of its project lose as much. */
        PROJECT
    }

    /** Decides whether to freeze the experiment. A release covers only what was lost before it. */
    private Hold hold(Experiment experiment, Manifest before, Counts counts, Optional<Freeze> freeze) {
        if (freeze.isPresent() && !freeze.get().released()) {
            return Hold.EXPERIMENT;
        }
        Lost lost = counts.lost().since(freeze.map(Freeze::lost).orElse(Lost.NOTHING));
        Tripwire tripwire = freezes.tripwire(experiment.id());
        if (tripwire.holds(before, lost)) {
            return Hold.EXPERIMENT;
        }
        return tripwire.loses(before, lost) && freezes.isSweep(experiment, tripwire) ? Hold.PROJECT : Hold.NONE;
    }

    /**
     * Freezes the experiment. The catalogue keeps nothing of this look, so that the next one compares with the same
     * manifest.
     */
    private Finding frozen(Experiment experiment, Manifest before, Counts counts, Hold hold, int unreadable) {
        String message =
                ("%,d of %,d files and links vanished or changed (%s of %s) since manifest %d; %,d entries are new. "
                                + "%sNothing was sealed. Nothing is sent until the experiment is released: dozo release %s")
                        .formatted(
                                counts.lost().entries(),
                                before.files() + before.links(),
                                Size.text(counts.lost().bytes()),
                                Size.text(before.bytes()),
                                before.number(),
                                counts.added(),
                                hold == Hold.PROJECT
                                        ? "Other experiments of project %s lost a similar share within a day. "
                                                .formatted(experiment.project())
                                        : "",
                                experiment.name());
        freezes.freeze(experiment, before.number(), counts.lost(), message);
        String unkept = keepSigns(experiment, before, counts, unreadable);
        return new Finding(experiment.id(), Problem.FROZEN, null, message + unkept);
    }

    /**
     * Keeps the signs of what happened. A failure must not keep the experiment from being frozen: then nothing is known of it, and the
     * finding says why.
     */
    private String keepSigns(Experiment experiment, Manifest before, Counts counts, int unreadable) {
        return template.execute((ConnectionCallback<String>) connection -> {
            Savepoint frozen = connection.setSavepoint();
            try {
                FreezeSigns.keep(jdbc, experiment.id(), before, counts, unreadable);
            } catch (RuntimeException e) {
                connection.rollback(frozen);
                return ". What the look saw could not be kept: " + Failure.reason(e, "the next look tries it again");
            }
            return "";
        });
    }

    private void seal(List<Next> nexts) {
        jdbc.sql("""
                        insert into manifest (experiment_id, manifest_no, sealed_at, files, bytes, folders, links,
                                              entries_new, entries_changed, entries_type_changed, entries_gone, percent_lost)
                        select experiment, number, :now, files, bytes, folders, links,
                               added, changed, type_changed, gone, percent_lost
                        from unnest(:experiments::integer[], :numbers::integer[],
                                    :files::bigint[], :bytes::bigint[], :folders::bigint[], :links::bigint[],
                                    :added::bigint[], :changed::bigint[], :typeChanged::bigint[], :gone::bigint[],
                                    :percentLost::smallint[])
                             as t (experiment, number, files, bytes, folders, links,
                                   added, changed, type_changed, gone, percent_lost)
                        """)
                .param("now", Timestamp.from(clock.instant()))
                .param("experiments", values(nexts, next -> next.experiment.id()))
                .param("numbers", values(nexts, Next::number))
                .param("files", values(nexts, Next::files))
                .param("bytes", values(nexts, Next::bytes))
                .param("folders", values(nexts, Next::folders))
                .param("links", values(nexts, Next::links))
                .param("added", values(nexts, next -> next.counts.added()))
                .param("changed", values(nexts, next -> next.counts.changed()))
                .param("typeChanged", values(nexts, next -> next.counts.typeChanged()))
                .param("gone", values(nexts, next -> next.counts.gone()))
                .param("percentLost", values(nexts, next -> next.counts.lost().percentOf(next.before)))
                .update();
        ledger.appendAtCommit(
                Ledger.SYSTEM,
                "manifest.sealed",
                TOLD,
                nexts.stream().map(Next::told).toList());
    }
}
