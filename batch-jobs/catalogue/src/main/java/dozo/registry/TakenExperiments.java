package dozo.registry;

import dozo.file.FilePath;
import dozo.file.Message;
import dozo.ledger.Sight;
import dozo.registry.Verdict.Outcome;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.core.simple.JdbcClient.StatementSpec;

/** The names and folders of a file's experiments that are taken: by registered experiments, and by earlier lines. */
final class TakenExperiments {

    private static final int FETCH = 1_000;

    private static final String TAKEN_SELECT = """
            select p.code as project, e.code, e.source_root, e.title, e.modality, e.scanner, e.acquired_on
            """;

    private static final RowMapper<Taken> TAKEN = (row, n) -> new Taken(
            row.getString("project") + "/" + row.getString("code"),
            FilePath.pathOf(row.getBytes("source_root")),
            row.getString("title"),
            new Acquisition(
                    row.getString("modality"), row.getString("scanner"), row.getObject("acquired_on", LocalDate.class)),
            Message.of("is registered already"));

    private final Sight sight;
    /** Those that exist, with whether they are retired. */
    private final Map<String, Boolean> projects = new HashMap<>();

    private final Set<String> erased;
    private final Map<String, Taken> byName = new HashMap<>();
    private final Map<Path, Taken> bySource = new HashMap<>();

    /** @param where for people, as part of a sentence */
    private record Taken(String name, Path source, String title, Acquisition acquisition, Message where) {

        String project() {
            return name.substring(0, name.indexOf('/'));
        }
    }

    /**
     * Reads all of them with four queries, whatever their number. Must run in a transaction, so that results are
     * streamed.
     */
    TakenExperiments(JdbcClient jdbc, Sight sight, List<Wish> wishes) {
        this.sight = sight;
        String[] projectCodes = wishes.stream().map(Wish::project).toArray(String[]::new);
        jdbc.sql("select code, retired_at is not null from project where code = any(:codes)")
                .param("codes", wishes.stream().map(Wish::project).distinct().toArray(String[]::new))
                .query(row -> {
                    projects.put(row.getString(1), row.getBoolean(2));
                });
        erased = Experiments.erased(jdbc, wishes.stream().map(Wish::name).toList());
        addAll(jdbc.sql(TAKEN_SELECT + """
                        from unnest(:projects::text[], :codes::text[]) as w (project, code)
                        join project p on p.code = w.project
                        join experiment e on e.project_id = p.project_id and e.code = w.code
                        """)
                .param("projects", projectCodes)
                .param("codes", wishes.stream().map(Wish::code).toArray(String[]::new)));
        addAll(jdbc.sql(TAKEN_SELECT + """
                        from unnest(:digests::bytea[]) as w (digest)
                        join experiment e on e.source_kind = 'filesystem' and sha256(e.source_root) = w.digest
                        join project p using (project_id)
                        """)
                .param(
                        "digests",
                        wishes.stream()
                                .flatMap(wish -> Stream.ofNullable(wish.folder()))
                                .map(folder -> GivenPaths.digest(folder).bytes())
                                .toArray(byte[][]::new)));
    }

    private void addAll(StatementSpec question) {
        // NB: an open stream keeps its connection.
        try (Stream<Taken> all = question.withFetchSize(FETCH).query(TAKEN).stream()) {
            all.forEach(this::add);
        }
    }

    /** Returns the wish if nothing registered and no earlier line contradicts it; otherwise its verdict. */
    JudgedLine judged(Wish wish) {
        boolean known = projects.containsKey(wish.project()) && sight.sees(wish.project());
        Taken same = known ? byName.get(wish.name()) : null;
        if (same != null && wish.malformed().isEmpty() && same.source.equals(wish.source())) {
            return wish.verdict(Outcome.UNCHANGED, difference(same, wish));
        }
        Refusals refusals = new Refusals();
        wish.malformed().forEach(refusals::add);
        if (!known && !wish.project().isEmpty()) {
            refusals.add(Experiments.noProject(wish.project()));
        }
        if (known && Boolean.TRUE.equals(projects.get(wish.project()))) {
            refusals.add(Projects.retired("project", wish.project()));
        }
        if (same != null) {
            refusals.add(new Refusal(
                    "code",
                    "experiment %s %s, with the folder %s",
                    wish.name(),
                    same.where,
                    GivenPaths.shown(same.source)));
        }
        if (erased.contains(wish.name())) {
            refusals.add(Experiments.erased(wish.name()));
        }
        // NB: who may not register everything learns nothing about a folder without a project of theirs.
        if (wish.folder() != null && (known || sight.ofEverything())) {
            checkFolder(wish, wish.folder(), refusals);
        }
        if (!refusals.all().isEmpty()) {
            return wish.refused(refusals.all());
        }
        add(new Taken(
                wish.name(),
                wish.source(),
                wish.title(),
                wish.acquisition(),
                Message.of("is in line %d", wish.line())));
        return wish;
    }

    private void checkFolder(Wish wish, Path folder, Refusals refusals) {
        Taken other = bySource.get(folder);
        if (wish.outside() != null) {
            refusals.add(wish.outside());
        } else if (other != null && !sight.sees(other.project())) {
            refusals.add(new Refusal("source", Experiments.FOREIGN_SOURCE));
        } else if (other != null) {
            refusals.add(new Refusal(
                    "source", "the folder is the source of experiment %s, which %s", other.name, other.where));
        } else {
            refusals.tried(() -> GivenPaths.folder(RegistrationColumn.SOURCE.field(), folder));
        }
    }

    private void add(Taken taken) {
        Taken known = byName.putIfAbsent(taken.name, taken);
        bySource.putIfAbsent(taken.source, known != null && known.source.equals(taken.source) ? known : taken);
    }

    /** Returns how a line differs from what is registered with its name and folder; null: it does not. */
    private static @Nullable Message difference(Taken taken, Wish wish) {
        boolean title = !taken.title.equals(wish.title());
        boolean acquisition = !taken.acquisition.equals(wish.acquisition());
        if (!title && !acquisition) {
            return null;
        }
        Message other = !acquisition
                ? Message.of("title")
                : title
                        ? Message.of("title and modality, scanner or acquired")
                        : Message.of("modality, scanner or acquired");
        return Message.of("it %s with another %s; nothing was changed", taken.where, other);
    }
}
