package dozo.command;

import static java.util.Objects.requireNonNull;

import dozo.file.FilePath;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/** Registers an experiment, or all of a file. */
@Command(
        name = "register",
        mixinStandardHelpOptions = true,
        description = "Registers an experiment with its folder, or all that are in a CSV file.")
final class RegisterCommand implements Callable<Integer> {

    /** A hundred thousand folders are looked for. */
    private static final Duration FILE_LIMIT = Duration.ofMinutes(10);

    @Spec
    private @Nullable CommandSpec spec;

    @Mixin
    private final Connection service = new Connection();

    @ArgGroup(multiplicity = "1")
    private @Nullable Asked asked;

    private static final class Asked {

        @ArgGroup(exclusive = false)
        private @Nullable One one;

        @ArgGroup(exclusive = false)
        private @Nullable Many many;
    }

    private static final class One {

        @Option(names = "--project", required = true, paramLabel = "P", description = "Its project's code.")
        private String project = "";

        @Option(names = "--code", required = true, paramLabel = "C", description = "Its own code.")
        private String code = "";

        @Option(names = "--title", paramLabel = "T", description = "What people call it.")
        private String title = "";

        @Option(names = "--modality", paramLabel = "M", description = "As DICOM codes it: MR, MEG, EEG.")
        private @Nullable String modality;

        @Option(names = "--scanner", paramLabel = "N", description = "The scanner's code.")
        private @Nullable String scanner;

        @Option(names = "--acquired", paramLabel = "DAY", description = "The day of the visit, as 2026-10-01.")
        private @Nullable String acquired;

        @Option(names = "--list", paramLabel = "FILE", description = "A file list to read in place of a walk.")
        private @Nullable String list;

        @Option(names = "--list-form", paramLabel = "FORM", description = "What wrote it: find or policy.")
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

        @Option(names = "--dry-run", description = "Say what would be registered; register nothing.")
        private boolean dryRun;

        @Option(names = "--each", description = "Register each good line; without it all or nothing.")
        private boolean each;

        @Option(
                names = "--encoding",
                paramLabel = "E",
                description = "utf-8, shift_jis or utf-16le, where the file does not tell.")
        private @Nullable String encoding;
    }

    @Override
    public Integer call() {
        Asked given = requireNonNull(asked);
        return given.many == null ? one(requireNonNull(given.one)) : many(given.many);
    }

    private int one(One one) {
        byte[] folder = RawArgument.path(one.source);
        Map<String, Object> body = new HashMap<>(
                Map.of("project", one.project, "code", one.code, "title", one.title, "sourceBytes", folder));
        body.put("modality", one.modality);
        body.put("scanner", one.scanner);
        body.put("acquired", one.acquired);
        body.put("listBytes", one.list == null ? null : RawArgument.path(one.list));
        body.put("listForm", one.listForm);
        JsonNode experiment = service.post("/api/v1/experiments", body);
        Dozo.say(
                out(),
                service,
                experiment,
                "registered %s/%s: %s".formatted(one.project, one.code, FilePath.render(folder)));
        return Exit.WELL;
    }

    private int many(Many many) {
        JsonNode answer = service.post(
                "/api/v1/experiments/bulk?mode=%s&dryRun=%s".formatted(many.each ? "each" : "all", many.dryRun),
                many.encoding == null ? "text/csv" : "text/csv; charset=\"" + checked(many.encoding) + '"',
                many.csv,
                FILE_LIMIT);
        if (service.json()) {
            Dozo.say(out(), service, answer, "");
        } else {
            print(out(), answer);
        }
        return answer.path("refused").asLong() == 0 ? Exit.WELL : Exit.REFUSED;
    }

    /** What was taken, how many of each, and every line that has something to be read. */
    private static void print(PrintWriter out, JsonNode answer) {
        Table table = new Table(">LINE", "EXPERIMENT", "", "FIELD", "MESSAGE");
        int rows = 0;
        for (JsonNode line : answer.path("lines")) {
            if (line.hasNonNull("message")) {
                rows++;
                table.row(
                        line.path("line").asLong(),
                        text(line, "project") + "/" + text(line, "code"),
                        text(line, "outcome").toLowerCase(java.util.Locale.ROOT),
                        text(line, "field"),
                        text(line, "message"));
            }
        }
        if (rows > 0) {
            table.print(out);
            out.println();
        }
        out.println("%,d lines, read as %s: %,d registered, %,d could be, %,d unchanged, %,d refused"
                .formatted(
                        answer.path("lines").size(),
                        answer.path("encoding").asString(""),
                        answer.path("registered").asLong(),
                        answer.path("accepted").asLong(),
                        answer.path("unchanged").asLong(),
                        answer.path("refused").asLong()));
        out.flush();
    }

    private static String text(JsonNode line, String field) {
        return Connection.visible(line.path(field).asString(""));
    }

    private static String checked(String encoding) {
        if (!encoding.matches("[A-Za-z0-9_-]{1,20}")) {
            throw new Failure(Exit.USAGE, "--encoding: utf-8, shift_jis and utf-16le are accepted");
        }
        return encoding;
    }

    private PrintWriter out() {
        return requireNonNull(spec).commandLine().getOut();
    }
}
