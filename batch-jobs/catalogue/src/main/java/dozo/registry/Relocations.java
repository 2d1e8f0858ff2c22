package dozo.registry;

import static java.util.Objects.requireNonNull;

import dozo.file.FilePath;
import dozo.ledger.Ledger;
import dozo.ledger.Ledger.Subject;
import dozo.ledger.Sight;
import dozo.registry.Experiments.Experiment;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.core.simple.JdbcClient.StatementSpec;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

/** Gives sources another path when a storage was migrated: the same content is mounted in another place. */
@Component
public class Relocations {

    private static final Sight BELOW_ROOTS = Sight.of(List.of());

    private static final String FOLDER_MOVES =
            "substring(e.source_root || '/'::bytea for :length) = :old || '/'::bytea";
    private static final String LIST_MOVES =
            "coalesce(substring(e.list_file || '/'::bytea for :length) = :old || '/'::bytea, false)";

    /** Changes when the row is changed, or a manifest is sealed. */
    private static final String VERSION =
            "e.xmin || ' ' || (select coalesce(max(manifest_no), 0) from manifest s where s.experiment_id = e.experiment_id)";

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

        /** Returns where a path is afterwards. */
        public Path after(Path before) {
            return before.startsWith(from) ? to.resolve(from.relativize(before)) : before;
        }
    }

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
     * @throws Refusal if no visible source is at or below {@code from}; or {@code to} does not exist, is a source, or is outside
     *     the roots of a user who does not see everything
     */
    public Relocation checked(Sight sight, Path from, Path to) {
        Relocation wanted = new Relocation(
                GivenPaths.checked("from", from), places.find(sight, to).opened(), sight);
        if (wanted.from.getNameCount() == 0 || wanted.to.getNameCount() == 0 || wanted.from.equals(wanted.to)) {
            throw new Refusal("to", "expected two different folders below /");
        }
        if (versions(wanted).isEmpty() && roots(wanted).isEmpty()) {
            throw new Refusal("from", "no source is in %s", GivenPaths.shown(wanted.from));
        }
        experiments.refuseTakenSource(sight, wanted.to);
        return wanted;
    }

    /**
     * Returns the visible experiments whose folder or file list is at or below the old folder: their versions, which change
     * with every change and every manifest, by id. Without retired ones, whose sources may be gone.
     */
    public Map<Integer, String> versions(Relocation wanted) {
        Map<Integer, String> versions = new TreeMap<>();
        with(wanted, jdbc.sql("""
                        select e.experiment_id, %s as version from experiment e join project p using (project_id)
                        where e.source_kind <> 'none' and e.retired_at is null and in_sight(:seen, p.code) and (%s or %s)
                        """.formatted(VERSION, FOLDER_MOVES, LIST_MOVES)))
                .param("seen", wanted.sight.seen())
                .query(row -> {
                    versions.put(row.getInt("experiment_id"), row.getString("version"));
                });
        return versions;
    }

    /**
     * Changes sources and roots in the caller's transaction. A project with experiments that stay in the old folder keeps its
     * roots there, too.
     *
     * @param versions of the experiments, as {@link #versions} has returned them
     * @return the experiments as they are now, by id
     * @throws Refusal if one of them has changed since, or a new folder is the source of another one
     */
    @Transactional(propagation = Propagation.MANDATORY)
    public List<Experiment> relocate(Relocation wanted, Map<Integer, String> versions, String actor) {
        int[] ids = ids(versions);
        List<Experiment> before = experiments.of(ids);
        try {
            int changed = with(wanted, jdbc.sql("""
                            update experiment e
                                set source_root = case when %1$s then :to || substring(e.source_root from :length) else e.source_root end,
                                    list_file = case when %2$s then :to || substring(e.list_file from :length) else e.list_file end,
                                    source_bound = e.source_bound or :below, list_bound = e.list_bound or :below and e.list_file is not null
                            from unnest(:ids::integer[], :versions::text[]) as m (id, version)
                            where e.experiment_id = m.id and m.version = %3$s
                            """.formatted(FOLDER_MOVES, LIST_MOVES, VERSION)))
                    .param("to", FilePath.rawBytes(wanted.to))
                    .param("below", !wanted.sight.ofEverything())
                    .param("ids", ids)
                    .param("versions", versions.values().toArray(String[]::new))
                    .update();
            if (changed != ids.length) {
                throw Refusal.conflict("from", "an experiment was changed or backed up meanwhile; try again");
            }
        } catch (DuplicateKeyException e) {
            throw Refusal.conflict(
                    "to", "a folder in %s is already the source of an experiment", GivenPaths.shown(wanted.to));
        }
        Set<String> staying = experiments.of(ids(versions(wanted))).stream()
                .map(Experiment::project)
                .collect(Collectors.toSet());
        Map<String, List<Path>> former = places.roots(wanted.sight);
        roots(wanted)
                .forEach((project, roots) -> projects.setRoots(
                        project,
                        roots,
                        requireNonNull(former.get(project)).stream()
                                .filter(root -> staying.contains(project) && root.startsWith(wanted.from))
                                .toList(),
                        actor));
        List<Experiment> after = experiments.of(ids);
        ledger.appendAll(
                actor,
                "experiment.changed",
                List.of("before", "after"),
                IntStream.range(0, ids.length)
                        .mapToObj(i ->
                                new Subject(before.get(i).name(), List.of(text(before.get(i)), text(after.get(i)))))
                        .toList());
        return after;
    }

    private static int[] ids(Map<Integer, String> versions) {
        return versions.keySet().stream().mapToInt(Integer::intValue).toArray();
    }

    private static StatementSpec with(Relocation wanted, StatementSpec statement) {
        byte[] old = FilePath.rawBytes(wanted.from);
        return statement.param("old", old).param("length", old.length + 1);
    }

    /**
     * Checks that experiments stay below the roots of their projects. Only those that an administrator has registered
     * elsewhere need not be below a root afterwards, if an administrator moves them.
     *
     * @param after as they will be
     * @throws Refusal if one would leave the roots, or there is a link on the way to it
     */
    public void checkRoots(Relocation wanted, List<Experiment> after) {
        Map<String, List<Path>> before = places.roots(wanted.sight);
        Map<String, List<Path>> all = new HashMap<>(before);
        all.putAll(roots(wanted));
        after.forEach(each -> all.putIfAbsent(each.project(), List.of()));
        Map<String, SourceRoots> roots =
                SourceRoots.of(all).stream().collect(Collectors.toMap(SourceRoots::project, each -> each));
        for (Experiment each : after) {
            SourceList list = each.list();
            Stream.concat(Stream.of(each.source()), Stream.ofNullable(list).map(SourceList::file))
                    .filter(path -> path.startsWith(wanted.to))
                    .filter(path -> !wanted.sight.ofEverything()
                            || before.getOrDefault(each.project(), List.of()).stream()
                                    .anyMatch(wanted.from.resolve(wanted.to.relativize(path))::startsWith))
                    .filter(path -> !path.equals(requireNonNull(roots.get(each.project()))
                            .place("to", path, BELOW_ROOTS)
                            .path()))
                    .findFirst()
                    .ifPresent(path -> {
                        throw new Refusal("to", "there is a symbolic link on the path %s", GivenPaths.shown(path));
                    });
        }
    }

    /** Returns the new roots of projects that have one at or below the old folder; only an administrator changes roots. */
    private Map<String, List<Path>> roots(Relocation wanted) {
        return wanted.sight.ofEverything()
                ? places.roots(wanted.sight).entrySet().stream()
                        .filter(each -> each.getValue().stream().anyMatch(root -> root.startsWith(wanted.from)))
                        .collect(Collectors.toMap(
                                Map.Entry::getKey,
                                each -> each.getValue().stream()
                                        .map(wanted::after)
                                        .distinct()
                                        .toList()))
                : Map.of();
    }

    private static String text(Experiment experiment) {
        String folder = RegistrationDetails.of(experiment.source());
        return experiment.list() == null ? folder : folder + ", " + RegistrationDetails.of(experiment.list());
    }
}
