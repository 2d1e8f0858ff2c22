package dozo.command;

import static java.util.Objects.requireNonNull;

import dozo.api.ExperimentApi.ShownBulk;
import dozo.api.ExperimentApi.ShownSuggestion;
import dozo.api.ShownExperiment;
import dozo.export.Columns;
import dozo.file.FilePath;
import dozo.registry.Verdict;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;

/** Registers an experiment, or all experiments of a file. */
@Command(
        name = "register",
        mixinStandardHelpOptions = true,
        description = "Registers an experiment with its folder, or all experiments of a CSV file.")
final class RegisterCommand implements Callable<Integer> {

    private static final Columns<Verdict> FIELDS = Columns.of(Verdict.class);

    @Mixin
    private final Connection service = new Connection();

    @Option(
            names = "--suggest",
            description = "Suggests how to register the folders, from their content; registers nothing.")
    private boolean suggest;

    @Option(names = "--fill", description = "Registers, with missing values filled in from the folders' content.")
    private boolean fill;

    @ArgGroup(multiplicity = "1")
    private @Nullable Asked asked;

    private static final class Asked {

        @ArgGroup(exclusive = false)
        private @Nullable One one;

        @ArgGroup(exclusive = false)
        private @Nullable Many many;
    }

    private static final class One {

        @Option(
                names = "--project",
                paramLabel = "P",
                description = "The project's code. Required without --suggest and --fill.")
        private @Nullable String project;

        @Option(
                names = "--code",
                paramLabel = "C",
                description = "The experiment's code. Required without --suggest and --fill.")
        private @Nullable String code;

        @Option(names = "--title", paramLabel = "T", description = "A title for people.")
        private @Nullable String title;

        @Option(names = "--modality", paramLabel = "M", description = "The DICOM modality: MR, MEG, EEG.")
        private @Nullable String modality;

        @Option(names = "--scanner", paramLabel = "N", description = "The scanner's code.")
        private @Nullable String scanner;

        @Option(
                names = "--acquired",
                paramLabel = "DAY",
                description = "The day of the visit, such as 2026-10-01 or yesterday.",
                converter = When.Day.class)
        private @Nullable String acquired;

        @Option(
                names = "--list",
                paramLabel = "FILE",
                description = "A file list to read instead of walking the folder.")
        private @Nullable String list;

        @Option(
                names = "--list-form",
                paramLabel = "FORM",
                description = "The program that wrote the list: find or policy.")
        private @Nullable String listForm;

        @Parameters(paramLabel = "SOURCE", description = "The folder, on the service's machine.")
        private String source = "";
    }

    private static final class Many {

        @Option(
                names = "--csv",
                required = true,
                paramLabel = "FILE",
                description = "With columns project, code, source; and title, modality, scanner, acquired.")
        private Path csv = Path.of("");

        @Option(names = "--dry-run", description = "Shows what would be registered; registers nothing.")
        private boolean dryRun;

        @Option(names = "--each", description = "Registers each valid line; by default all lines or none.")
        private boolean each;

        @Option(
                names = "--encoding",
                paramLabel = "E",
                description = "utf-8, shift_jis or utf-16le; by default detected.")
        private @Nullable String encoding;
    }

    @Override
    public Integer call() {
        Asked given = requireNonNull(asked);
        if (suggest && fill) {
            throw new ParameterException(
                    service.commandLine(), "either --suggest, which only shows, or --fill, which registers");
        }
        return given.many == null ? one(requireNonNull(given.one)) : many(given.many);
    }

    private int one(One one) {
        byte[] folder = RawArgument.path(one.source);
        Map<String, @Nullable Object> body = new HashMap<>();
        body.put("project", one.project);
        body.put("code", one.code);
        body.put("title", one.title);
        body.put("modality", one.modality);
        body.put("scanner", one.scanner);
        body.put("acquired", one.acquired);
        if (suggest || fill) {
            Answer<ShownSuggestion> told = service.get(
                    "/api/v1/experiments/suggestions?sourceBytes="
                            + Connection.encoded(Base64.getEncoder().encodeToString(folder)),
                    ShownSuggestion.class);
            Columns<ShownSuggestion> suggested = Columns.of(ShownSuggestion.class);
            body.replaceAll((field, given) -> given == null ? suggested.cell(told.value(), field) : given);
            if (suggest) {
                service.print(told, out -> print(out, told.value(), body));
                return Exit.WELL;
            }
            PrintWriter err = service.commandLine().getErr();
            told.value().hints().forEach(hint -> err.println("dozo: " + Connection.visible(hint.message())));
        }
        for (String needed : List.of("project", "code")) {
            if (body.get(needed) == null) {
                throw new ParameterException(
                        service.commandLine(),
                        "--%s is required%s".formatted(needed, fill ? ": the folder's files do not contain it" : ""));
            }
        }
        body.put("sourceBytes", folder);
        body.put("listBytes", one.list == null ? null : RawArgument.path(one.list));
        body.put("listForm", one.listForm);
        Answer<ShownExperiment> experiment = service.post("/api/v1/experiments", body, ShownExperiment.class);
        service.confirm(
                experiment,
                "registered %s/%s: %s".formatted(body.get("project"), body.get("code"), FilePath.render(folder)));
        return Exit.WELL;
    }

    /** Prints the suggested values, those that were given, and all hints. */
    private static void print(PrintWriter out, ShownSuggestion told, Map<String, @Nullable Object> filled) {
        for (String field : List.of("project", "code", "title", "modality", "scanner", "acquired")) {
            Object value = filled.get(field);
            out.println("%-9s %s".formatted(field, value == null ? "-" : Connection.visible(value.toString())));
        }
        out.println("%-9s %s".formatted("subject", told.subject() == null ? "-" : Connection.visible(told.subject())));
        told.studies().forEach(study -> out.println("%-9s %s".formatted("study", study)));
        out.println("%,d of %,d files read%s"
                .formatted(told.filesRead(), told.filesSeen(), told.whole() ? "" : ", and there are more"));
        told.hints().forEach(hint -> out.println("NB: " + Connection.visible(hint.message())));
    }

    private int many(Many many) {
        Answer<ShownBulk> answer = service.sendCsv(
                "POST",
                "/api/v1/experiments/bulk?mode=%s&dryRun=%s&suggest=%s"
                        .formatted(many.each ? "each" : "all", many.dryRun || suggest, suggest || fill),
                many.csv,
                many.encoding,
                ShownBulk.class);
        service.print(answer, out -> print(out, answer.value()));
        return answer.value().refused() == 0 ? Exit.WELL : Exit.REFUSED;
    }

    /** Prints the counts, and every line with a message, a suggestion or a hint. */
    private static void print(PrintWriter out, ShownBulk answer) {
        Table table = new Table(">LINE", "EXPERIMENT", "", "FIELD", "MESSAGE");
        int rows = 0;
        for (Verdict line : answer.lines()) {
            if (line.message() != null || line.suggested() != null || line.hints() != null) {
                rows++;
                table.row(
                        (long) line.line(),
                        Connection.text(line.project()) + "/" + Connection.text(line.code()),
                        line.outcome().name().toLowerCase(java.util.Locale.ROOT),
                        Connection.text(line.field()),
                        remarks(line));
            }
        }
        if (rows > 0) {
            table.print(out);
            out.println();
        }
        out.println("%,d lines, read as %s: %,d registered, %,d valid but not registered, %,d unchanged, %,d refused"
                .formatted(
                        answer.lines().size(),
                        answer.encoding(),
                        answer.registered(),
                        answer.accepted(),
                        answer.unchanged(),
                        answer.refused()));
    }

    /** Returns the message of the verdict, the suggested values of the line, and the hints for its folder. */
    private static String remarks(Verdict line) {
        List<String> remarks = new ArrayList<>();
        if (line.message() != null) {
            remarks.add(Connection.text(line.message()));
        }
        if (line.errors() != null) {
            line.errors().stream()
                    .skip(1)
                    .map(wrong -> "%s: %s".formatted(wrong.field(), Connection.text(wrong.message())))
                    .forEach(remarks::add);
        }
        if (line.suggested() != null) {
            remarks.add("suggested: "
                    + line.suggested().stream()
                            .map(field -> "%s %s".formatted(field, Connection.text(FIELDS.cell(line, field))))
                            .collect(Collectors.joining(", ")));
        }
        if (line.hints() != null) {
            line.hints().forEach(hint -> remarks.add(Connection.visible(hint.message())));
        }
        return String.join("; ", remarks);
    }
}
