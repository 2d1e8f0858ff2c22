package dozo.manifest;

import dozo.file.Owner;
import dozo.file.Problem;
import dozo.file.Size;
import dozo.ledger.Failure;
import dozo.ledger.Findings.Finding;
import dozo.ledger.Ledger;
import dozo.manifest.Differences.Counts;
import dozo.manifest.FolderLoad.Sums;
import dozo.manifest.Freezes.Freeze;
import dozo.manifest.Manifests.Manifest;
import dozo.manifest.Tripwire.Lost;
import dozo.registry.Experiments.Experiment;
import java.sql.Savepoint;
import java.sql.Timestamp;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;

/** Creates a manifest from a look at a source, or freezes the experiment. Runs in the caller's transaction. */
final class Sealing {

    private final JdbcTemplate template;
    private final JdbcClient jdbc;
    private final Manifests manifests;
    private final Freezes freezes;
    private final Ledger ledger;
    private final InstantSource clock;

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
     * @param before the manifest that the look compared with; empty: there was none
     * @param findings receives the finding if the experiment is frozen
     * @return whether there is a new manifest
     */
    boolean seal(Experiment experiment, Optional<Manifest> before, FolderLoad load, Consumer<Finding> findings) {
        if (!manifests.current(experiment.id()).equals(before)) {
            throw new IllegalStateException("a manifest of %s was sealed in the meantime".formatted(experiment.name()));
        }
        if (before.isEmpty()) {
            load(load);
            keepOwner(experiment, load, 0);
            seal(experiment, Manifest.none(experiment.id(), 0), first(load.sums()));
            return true;
        }
        return compare(experiment, before.get(), load, findings);
    }

    /**
     * Seals what was found at a site as the first manifest that the catalogue has of an experiment, with the number that
     * it had in the lost catalogue: what later manifests replace must not get the numbers of stored versions.
     */
    void sealFound(Experiment experiment, int number, FolderLoad load) {
        if (manifests.current(experiment.id()).isPresent()) {
            throw new IllegalStateException("%s has a manifest".formatted(experiment.name()));
        }
        load(load);
        seal(experiment, Manifest.none(experiment.id(), number - 1), first(load.sums()));
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
        load(load);
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
            seal(experiment, before, counts);
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

    private void load(FolderLoad load) {
        template.execute((ConnectionCallback<@Nullable Void>) connection -> {
            load.load(connection);
            return null;
        });
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

    private void seal(Experiment experiment, Manifest before, Counts counts) {
        Manifest manifest = insert(before, counts);
        ledger.appendAtCommit(
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

    private Manifest insert(Manifest before, Counts counts) {
        return jdbc.sql("""
                        insert into manifest (experiment_id, manifest_no, sealed_at, files, bytes, folders, links,
                                              entries_new, entries_changed, entries_type_changed, entries_gone, percent_lost)
                        values (:experiment, :number, :now, :files, :bytes, :folders, :links,
                                :added, :changed, :typeChanged, :gone, :percentLost)
                        returning *
                        """)
                .params(Map.of("experiment", before.experimentId(), "number", before.number() + 1))
                .params(Map.of("files", before.files() + counts.files(), "bytes", before.bytes() + counts.bytes()))
                .params(Map.of(
                        "folders", before.folders() + counts.folders(), "links", before.links() + counts.links()))
                .params(Map.of("added", counts.added(), "changed", counts.changed()))
                .params(Map.of("typeChanged", counts.typeChanged(), "gone", counts.gone()))
                .params(Map.of("percentLost", counts.lost().percentOf(before), "now", Timestamp.from(clock.instant())))
                .query(Manifests.MANIFEST)
                .single();
    }
}
