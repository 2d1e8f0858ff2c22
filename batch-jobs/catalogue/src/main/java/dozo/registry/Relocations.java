package dozo.registry;

import dozo.file.FilePath;
import dozo.ledger.Ledger;
import dozo.ledger.Ledger.Subject;
import dozo.ledger.Sight;
import dozo.registry.Experiments.Experiment;
import dozo.registry.SourceRoots.Placed;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

/** Gives sources another path when a storage was migrated: the same content is mounted in another place. */
@Component
public class Relocations {

    private static final Sight BELOW_ROOTS = Sight.of(List.of());

    private final JdbcClient jdbc;
    private final Experiments experiments;
    private final Projects projects;
    private final SourcePlaces places;
    private final Ledger ledger;

    /**
     * What is at or below one folder is at or below another one.
     *
     * @param from it need not exist any more
     * @param to an existing folder, without links
     * @param sight the projects whose experiments it concerns; if of everything, roots and origins move too
     */
    public record Relocation(Path from, Path to, Sight sight) {

        /** Returns where a path is now. */
        public Path after(Path before) {
            return before.startsWith(from) ? to.resolve(from.relativize(before)) : before;
        }
    }

    /** An experiment as it is, and as it will be. */
    public record Relocated(Experiment before, Experiment after) {}

    Relocations(JdbcClient jdbc, Experiments experiments, Projects projects, SourcePlaces places, Ledger ledger) {
        this.jdbc = jdbc;
        this.experiments = experiments;
        this.projects = projects;
        this.places = places;
        this.ledger = ledger;
    }

    /**
     * Checks both folders.
     *
     * @throws Refusal if no visible source is at or below {@code from}, or {@code to} does not exist or is outside the roots
     *     of a user who does not see everything
     */
    public Relocation checked(Sight sight, Path from, Path to) {
        Path before = GivenPaths.checked("from", from);
        Path after = places.find(sight, to).opened();
        if (before.getNameCount() == 0 || after.getNameCount() == 0 || before.equals(after)) {
            throw new Refusal("to", "expected two different folders below /");
        }
        Relocation wanted = new Relocation(before, after, sight);
        if (concerned(wanted).isEmpty() && roots(wanted).isEmpty()) {
            throw new Refusal("from", "no source is in %s", GivenPaths.shown(before));
        }
        return wanted;
    }

    /**
     * Returns the concerned experiments as they are and as they will be, by id. One that was below a root of its project
     * must be below one afterwards.
     *
     * @throws Refusal if one would leave the roots, or its new folder or {@code to} is the source of an experiment
     */
    public List<Relocated> planned(Relocation wanted) {
        Map<String, List<Path>> before = places.roots(wanted.sight);
        Map<String, List<Path>> after = new HashMap<>(before);
        after.putAll(roots(wanted));
        Map<String, SourceRoots> known = new HashMap<>();
        SourceRoots.of(after).forEach(roots -> known.put(roots.project(), roots));
        experiments.refuseTakenSource(wanted.sight, wanted.to);
        List<Relocated> all = new ArrayList<>();
        for (Experiment each : concerned(wanted)) {
            Inside inside = new Inside(
                    wanted,
                    before.getOrDefault(each.project(), List.of()),
                    Objects.requireNonNullElseGet(
                            known.get(each.project()), () -> SourceRoots.of(each.project(), List.of())));
            Placed source = inside.place("source", each.source(), each.bound());
            if (!source.path().equals(each.source())) {
                experiments.refuseTakenSource(wanted.sight, source.path());
            }
            SourceList list = each.list();
            Placed listed = list == null ? null : inside.place("list", list.file(), list.bound());
            all.add(new Relocated(
                    each,
                    at(
                            each,
                            source,
                            listed == null ? null : new SourceList(listed.path(), list.form(), listed.bound()))));
        }
        return all;
    }

    private static Experiment at(Experiment each, Placed source, @Nullable SourceList list) {
        return new Experiment(
                each.id(),
                each.project(),
                each.code(),
                each.title(),
                each.kind(),
                source.path(),
                source.bound(),
                list,
                each.names(),
                each.acquisition(),
                each.subject(),
                each.note(),
                each.registeredAt(),
                each.registeredBy(),
                each.retired());
    }

    /** The roots of a project, as they are and as they will be. */
    private record Inside(Relocation wanted, List<Path> before, SourceRoots after) {

        Placed place(String field, Path path, boolean bound) {
            Path now = wanted.after(path);
            if (now.equals(path)) {
                return new Placed(path, bound);
            }
            return !wanted.sight.ofEverything() || before.stream().anyMatch(path::startsWith)
                    ? after.place(field, now, BELOW_ROOTS)
                    : new Placed(now, bound);
        }
    }

    /**
     * Returns the visible experiments whose folder or file list is at or below the old folder, by id; without retired ones,
     * whose sources may be gone.
     */
    private List<Experiment> concerned(Relocation wanted) {
        byte[] old = FilePath.rawBytes(wanted.from);
        return jdbc.sql(Experiments.SELECT + """
                        where e.source_kind <> 'none' and e.retired_at is null and in_sight(:seen, p.code)
                          and (substring(e.source_root || '/'::bytea for :length) = :old || '/'::bytea
                               or substring(e.list_file || '/'::bytea for :length) = :old || '/'::bytea)
                        order by e.experiment_id
                        """)
                .param("seen", wanted.sight.seen())
                .param("old", old)
                .param("length", old.length + 1)
                .query(Experiments.EXPERIMENT)
                .list();
    }

    /** Returns the new roots of projects that have one at or below the old folder; only an administrator changes roots. */
    private Map<String, List<Path>> roots(Relocation wanted) {
        Map<String, List<Path>> moved = new HashMap<>();
        if (wanted.sight.ofEverything()) {
            places.roots(wanted.sight).forEach((project, roots) -> {
                if (roots.stream().anyMatch(root -> root.startsWith(wanted.from))) {
                    moved.put(project, roots.stream().map(wanted::after).distinct().toList());
                }
            });
        }
        return moved;
    }

    /**
     * Changes the sources of these experiments, and the roots, in the caller's transaction.
     *
     * @param moved by id, as {@link #planned} has returned them
     * @param manifests the numbers of the manifests that they were compared with, 0 for none; null: not compared yet
     * @throws Refusal if one of them has changed since, or a root is not possible
     */
    @Transactional(propagation = Propagation.MANDATORY)
    public void relocate(
            Relocation wanted, List<Relocated> moved, int @Nullable [] manifests, String actor) {
        if (update(moved, manifests) != moved.size()) {
            throw Refusal.conflict("from", "an experiment was changed or backed up meanwhile; try again");
        }
        roots(wanted).forEach((project, roots) -> projects.setRoots(project, roots, actor));
        ledger.appendAll(
                actor,
                "experiment.changed",
                List.of("before", "after"),
                moved.stream()
                        .map(each -> new Subject(each.before.name(), List.of(text(each.before), text(each.after))))
                        .toList());
    }

    private int update(List<Relocated> moved, int @Nullable [] manifests) {
        try {
            return jdbc.sql("""
                            update experiment e
                                set source_root = m.root, source_bound = m.bound, list_file = m.list, list_bound = m.list_bound
                            from unnest(:ids::integer[], :before::bytea[], :lists_before::bytea[], :manifests::integer[],
                                        :roots::bytea[], :bound::boolean[], :lists::bytea[], :lists_bound::boolean[])
                                 as m (id, root_before, list_before, manifest, root, bound, list, list_bound)
                            where e.experiment_id = m.id and e.source_root = m.root_before
                              and e.list_file is not distinct from m.list_before
                              and (not :compared or m.manifest =
                                   (select coalesce(max(manifest_no), 0) from manifest s where s.experiment_id = e.experiment_id))
                            """)
                    .param("ids", moved.stream().mapToInt(each -> each.before.id()).toArray())
                    .param("before", moved.stream().map(each -> FilePath.rawBytes(each.before.source())).toArray(byte[][]::new))
                    .param("lists_before", moved.stream().map(each -> list(each.before)).toArray(byte[][]::new))
                    .param("roots", moved.stream().map(each -> FilePath.rawBytes(each.after.source())).toArray(byte[][]::new))
                    .param("bound", moved.stream().map(each -> each.after.bound()).toArray(Boolean[]::new))
                    .param("lists", moved.stream().map(each -> list(each.after)).toArray(byte[][]::new))
                    .param("lists_bound", moved.stream().map(each -> listBound(each.after)).toArray(Boolean[]::new))
                    .param("manifests", manifests == null ? new int[moved.size()] : manifests)
                    .param("compared", manifests != null)
                    .update();
        } catch (DuplicateKeyException e) {
            throw Refusal.conflict("to", "one of the new folders has just been registered");
        }
    }

    private static byte @Nullable [] list(Experiment experiment) {
        SourceList list = experiment.list();
        return list == null ? null : FilePath.rawBytes(list.file());
    }

    private static boolean listBound(Experiment experiment) {
        return experiment.list() != null && experiment.list().bound();
    }

    private static String text(Experiment experiment) {
        String folder = RegistrationDetails.of(experiment.source());
        return experiment.list() == null ? folder : folder + ", " + RegistrationDetails.of(experiment.list());
    }
}
