package dozo.registry;

import static java.util.Objects.requireNonNull;

import dozo.file.FilePath;
import dozo.ledger.Ledger;
import dozo.ledger.Ledger.Subject;
import dozo.ledger.Sight;
import dozo.ledger.Worded;
import dozo.registry.CsvFile.Row;
import dozo.registry.FileQuestion.Unanswered;
import dozo.registry.Verdict.Filling;
import dozo.registry.Verdict.Outcome;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.sql.Timestamp;
import java.time.InstantSource;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Registers the experiments of a CSV file and reports the result for every line. The same file again registers nothing.
 * All registrations are one transaction with their ledger rows, whatever their number (ADR 0029).
 */
@Component
public class BulkRegistration {

    /** The maximum size of a file in bytes. */
    public static final int BYTES_MAX = CsvFile.BYTES_MAX;

    /** The maximum number of lines that are not empty, without the heading. */
    public static final int LINES_MAX = CsvFile.LINES_MAX;

    /**
     * The size of the word index's pending list before it is sorted in: with 4 MB, sorting takes nearly half the time
     * of inserting.
     */
    private static final String WORDS_COLLECTED = "64MB";

    private static final int BATCH = 5_000;

    private final JdbcClient jdbc;
    private final Ledger ledger;
    private final InstantSource clock;
    private final TransactionTemplate transaction;

    /** What happens to the valid lines if others are refused. */
    public enum Mode implements Worded {
        /** Nothing is registered unless all lines can be. */
        ALL,
        /** Each valid line is registered. */
        EACH;

        /**
         * Returns the mode with this word.
         *
         * @throws Refusal if there is none
         */
        public static Mode of(String word) {
            return Worded.of(Mode.class, word)
                    .orElseThrow(() -> new Refusal("mode", "\"%s\": expected all or each", word));
        }
    }

    /**
     * The result for a file.
     *
     * @param encoding the encoding that was used
     * @param separator the separator that was used
     * @param lines one for each line that is not empty, in the file's order
     */
    public record Answer(String encoding, char separator, List<Verdict> lines) {

        /** Returns the number of lines with this outcome. */
        public long count(Outcome outcome) {
            return lines.stream().filter(line -> line.outcome() == outcome).count();
        }
    }

    /**
     * An experiment to register, as it was typed.
     *
     * @param source its folder; null: it is the field {@code source}
     * @param fields by their names in REST; an empty one is unknown
     */
    public record Typed(@Nullable Path source, Map<String, String> fields) {

        private Row<RegistrationColumn> row(int number) {
            Map<RegistrationColumn, String> cells = new EnumMap<>(RegistrationColumn.class);
            for (RegistrationColumn column : RegistrationColumn.values()) {
                String value = fields.getOrDefault(column.field(), "");
                if (!value.isBlank()) {
                    cells.put(column, value);
                }
            }
            return new Row<>(number, cells, null);
        }
    }

    public BulkRegistration(
            JdbcClient jdbc, Ledger ledger, InstantSource clock, PlatformTransactionManager transactions) {
        this.jdbc = jdbc;
        this.ledger = ledger;
        this.clock = clock;
        this.transaction = new TransactionTemplate(transactions);
    }

    /** Registers the experiments of a file; empty cells are unknown. */
    public Answer register(
            Sight sight, InputStream csv, @Nullable String encoding, Mode mode, boolean dryRun, String actor)
            throws IOException {
        return register(sight, csv, encoding, mode, dryRun, null, actor);
    }

    public Answer register(InputStream csv, @Nullable String encoding, Mode mode, boolean dryRun, String actor)
            throws IOException {
        return register(Sight.EVERYTHING, csv, encoding, mode, dryRun, actor);
    }

    /**
     * Registers the experiments of a file.
     *
     * @param sight a project that is not visible is treated as missing, and nothing about its experiments is shown
     * @param encoding its name; null: detected from the bytes
     * @param dryRun nothing is registered; the verdicts are those of a registration
     * @param guesses values for empty cells; null: they stay empty
     * @throws Refusal if the file as a whole cannot be parsed, or is too large
     */
    public Answer register(
            Sight sight,
            InputStream csv,
            @Nullable String encoding,
            Mode mode,
            boolean dryRun,
            @Nullable Function<Path, Guess> guesses,
            String actor)
            throws IOException {
        Map<Integer, Filling> fillings = new HashMap<>();
        CsvFile<JudgedLine> file = CsvFile.read(
                csv,
                encoding,
                List.of(RegistrationColumn.values()),
                row -> Wish.of(guesses == null ? row : filled(row, guesses, fillings), clock));
        List<Verdict> verdicts = verdicts(sight, file.lines(), mode, dryRun, actor).stream()
                .map(verdict -> {
                    Filling filling = fillings.get(verdict.line());
                    return filling == null ? verdict : verdict.with(filling);
                })
                .toList();
        return new Answer(file.encoding(), file.separator(), verdicts);
    }

    /**
     * Registers experiments as they were typed into a form, all or none. There is a verdict for each, numbered from 1.
     *
     * @param sight as for a file
     * @param dryRun nothing is registered; the verdicts are those of a registration
     * @throws Unanswered if a folder does not respond
     */
    public List<Verdict> register(Sight sight, List<Typed> typed, boolean dryRun, String actor) {
        List<JudgedLine> lines = IntStream.range(0, typed.size())
                .mapToObj(n -> {
                    Typed each = typed.get(n);
                    return Wish.of(each.row(n + 1), each.source, clock);
                })
                .toList();
        return verdicts(sight, lines, Mode.ALL, dryRun, actor);
    }

    private List<Verdict> verdicts(Sight sight, List<JudgedLine> read, Mode mode, boolean dryRun, String actor) {
        List<JudgedLine> lines = judged(sight, read);
        boolean refused = lines.stream().anyMatch(line -> line instanceof Verdict verdict && verdict.refused());
        if (!dryRun && !(refused && mode == Mode.ALL)) {
            lines = registered(lines, mode, actor);
        }
        return lines.stream()
                .map(line -> switch (line) {
                    case Verdict verdict -> verdict;
                    case Wish wish -> wish.verdict(Outcome.ACCEPTED, null);
                })
                .toList();
    }

    /** Returns the row with its empty cells filled from the content of its folder. */
    private static Row<RegistrationColumn> filled(
            Row<RegistrationColumn> row, Function<Path, Guess> guesses, Map<Integer, Filling> fillings) {
        Path source = row.refusal() == null ? Wish.sourceOf(row).orElse(null) : null;
        if (source == null) {
            return row;
        }
        Guess guess = guesses.apply(source);
        Map<RegistrationColumn, String> filling = guess.filling(row.cells());
        fillings.put(
                row.line(),
                new Filling(
                        filling.keySet().stream().map(RegistrationColumn::field).toList(), guess.hints()));
        Map<RegistrationColumn, String> cells = new HashMap<>(row.cells());
        cells.putAll(filling);
        return new Row<>(row.line(), cells, null);
    }

    private List<JudgedLine> judged(Sight sight, List<JudgedLine> read) {
        List<JudgedLine> lines = placed(sight, read);
        TakenExperiments taken =
                requireNonNull(transaction.execute(status -> new TakenExperiments(jdbc, sight, wishes(lines))));
        return lines.stream()
                .map(line -> line instanceof Wish wish ? taken.judged(wish) : line)
                .toList();
    }

    /** Returns the lines with their sources resolved. */
    private List<JudgedLine> placed(Sight sight, List<JudgedLine> lines) {
        Map<String, List<Path>> said = new HashMap<>();
        jdbc.sql("select code, source_roots from project where code = any(:codes)")
                .param(
                        "codes",
                        wishes(lines).stream().map(Wish::project).distinct().toArray(String[]::new))
                .query(row -> {
                    said.put(row.getString("code"), Projects.paths(row.getArray("source_roots")));
                });
        Map<String, SourceRoots> roots =
                SourceRoots.of(said).stream().collect(Collectors.toMap(SourceRoots::project, each -> each));
        return lines.stream()
                .map(line -> line instanceof Wish wish && roots.containsKey(wish.project())
                        ? wish.placed(requireNonNull(roots.get(wish.project())), sight)
                        : line)
                .toList();
    }

    /**
     * Registers the wishes. Those that others have taken since they were judged are refused; in mode {@code ALL}
     * nothing is registered then.
     */
    private List<JudgedLine> registered(List<JudgedLine> lines, Mode mode, String actor) {
        List<Wish> wishes = wishes(lines);
        Set<Path> free = new HashSet<>();
        boolean kept = Boolean.TRUE.equals(transaction.execute(status -> {
            collectWords();
            for (int from = 0; from < wishes.size(); from += BATCH) {
                free.addAll(insert(wishes.subList(from, Math.min(wishes.size(), from + BATCH)), actor));
            }
            if (mode == Mode.ALL && free.size() < wishes.size()) {
                status.setRollbackOnly();
                return false;
            }
            tell(wishes.stream().filter(wish -> free.contains(wish.source())).toList(), actor);
            return true;
        }));
        return lines.stream()
                .<JudgedLine>map(line -> switch (line) {
                    case Verdict verdict -> verdict;
                    case Wish wish
                    when !free.contains(wish.source()) ->
                        wish.refused(
                                List.of(new Refusal("code", "the experiment or its folder has just been registered")));
                    case Wish wish -> kept ? wish.verdict(Outcome.REGISTERED, null) : wish;
                })
                .toList();
    }

    /**
     * Enlarges the pending list for this transaction only. Queries also find what is in it; the next vacuum sorts it
     * in.
     */
    private void collectWords() {
        jdbc.sql("select set_config('gin_pending_list_limit', :size, true)")
                .param("size", WORDS_COLLECTED)
                .query((row, n) -> row.getString(1))
                .single();
    }

    /** Registers those whose name and folder are still free, and returns their folders. */
    private List<Path> insert(List<Wish> wishes, String actor) {
        return jdbc.sql("""
                        insert into experiment (project_id, code, title, source_kind, source_root, source_bound, modality, scanner,
                                                acquired_on, registered_at, registered_by, name_key)
                        select p.project_id, w.code, w.title, 'filesystem', w.root, w.bound, w.modality, w.scanner, w.day, :now, :actor,
                               new_name_key(p.project_id)
                        from unnest(:projects::text[], :codes::text[], :titles::text[], :roots::bytea[], :bounds::boolean[],
                                    :modalities::text[], :scanners::text[], :days::text[]::date[])
                             with ordinality as w (project, code, title, root, bound, modality, scanner, day, n)
                        join project p on p.code = w.project
                        order by w.n
                        on conflict do nothing
                        returning source_root
                        """)
                .params(Map.of("now", Timestamp.from(clock.instant()), "actor", actor))
                .param("projects", texts(wishes, Wish::project))
                .param("codes", texts(wishes, Wish::code))
                .param("titles", texts(wishes, Wish::title))
                .param(
                        "roots",
                        wishes.stream()
                                .map(Wish::source)
                                .map(FilePath::rawBytes)
                                .toArray(byte[][]::new))
                .param("bounds", wishes.stream().map(Wish::bound).toArray(Boolean[]::new))
                .param("modalities", texts(wishes, wish -> wish.acquisition().modality()))
                .param("scanners", texts(wishes, wish -> wish.acquisition().scanner()))
                .param("days", texts(wishes, wish -> wish.acquisition().day()))
                .query((row, n) -> FilePath.pathOf(row.getBytes(1)))
                .list();
    }

    private static String[] texts(List<Wish> wishes, Function<Wish, @Nullable Object> value) {
        return wishes.stream()
                .map(wish -> Objects.toString(value.apply(wish), null))
                .toArray(String[]::new);
    }

    /** Appends to the ledger. It comes last, because it locks the ledger until the end of the transaction. */
    private void tell(List<Wish> wishes, String actor) {
        for (int from = 0; from < wishes.size(); from += BATCH) {
            List<Subject> told = wishes.subList(from, Math.min(wishes.size(), from + BATCH)).stream()
                    .map(wish -> new Subject(
                            wish.name(),
                            RegistrationDetails.of(wish.source(), SourceKind.FILESYSTEM, wish.acquisition())))
                    .toList();
            ledger.appendAll(actor, RegistrationDetails.REGISTERED, RegistrationDetails.NAMES, told);
        }
    }

    private static List<Wish> wishes(List<JudgedLine> lines) {
        return lines.stream()
                .filter(Wish.class::isInstance)
                .map(Wish.class::cast)
                .toList();
    }
}
