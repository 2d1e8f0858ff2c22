package dozo.command;

import static java.util.Objects.requireNonNull;

import dozo.file.FilePath;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
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

    @Option(
            names = "--suggest",
            description = "Look into the folders, and say what they could be registered as; register nothing.")
    private boolean suggest;

    @Option(names = "--fill", description = "Register, with what is not said filled in by what the folders say.")
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
                description = "Its project's code. Needed, but for --suggest and --fill.")
        private @Nullable String project;

        @Option(names = "--code", paramLabel = "C", description = "Its own code. Needed, but for --suggest and --fill.")
        private @Nullable String code;

        @Option(names = "--title", paramLabel = "T", description = "What people call it.")
        private @Nullable String title;

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
        if (suggest && fill) {
            throw new ParameterException(
                    requireNonNull(spec).commandLine(),
                    "either --suggest, which only tells, or --fill, which registers");
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
            JsonNode told = service.get("/api/v1/experiments/suggestions?sourceBytes="
                    + Connection.encoded(Base64.getEncoder().encodeToString(folder)));
            body.replaceAll((field, said) -> said == null ? textOrNull(told, field) : said);
            if (suggest) {
                say(told, body);
                return Exit.WELL;
            }
            told.path("hints")
                    .forEach(hint ->
                            requireNonNull(spec).commandLine().getErr().println("dozo: " + text(hint, "message")));
        }
        for (String needed : List.of("project", "code")) {
            if (body.get(needed) == null) {
                throw new ParameterException(
                        requireNonNull(spec).commandLine(),
                        "--%s is needed%s".formatted(needed, fill ? ": the folder does not say it" : ""));
            }
        }
        body.put("sourceBytes", folder);
        body.put("listBytes", one.list == null ? null : RawArgument.path(one.list));
        body.put("listForm", one.listForm);
        JsonNode experiment = service.post("/api/v1/experiments", body);
        Dozo.say(
                out(),
                service,
                experiment,
                "registered %s/%s: %s".formatted(body.get("project"), body.get("code"), FilePath.render(folder)));
        return Exit.WELL;
    }

    /** What is suggested, beside what was given, and all that is to be known. */
    private void say(JsonNode told, Map<String, @Nullable Object> filled) {
        PrintWriter out = out();
        if (service.json()) {
            Dozo.say(out, service, told, "");
            return;
        }
        for (String field : List.of("project", "code", "title", "modality", "scanner", "acquired")) {
            Object value = filled.get(field);
            out.println("%-9s %s".formatted(field, value == null ? "-" : Connection.visible(value.toString())));
        }
        out.println("%-9s %s".formatted("subject", told.hasNonNull("subject") ? text(told, "subject") : "-"));
        told.path("studies").forEach(study -> out.println("%-9s %s".formatted("study", study.asString(""))));
        out.println("%,d of %,d files read%s"
                .formatted(
                        told.path("filesRead").asLong(),
                        told.path("filesSeen").asLong(),
                        told.path("whole").asBoolean() ? "" : ", and there are more"));
        told.path("hints").forEach(hint -> out.println("NB: " + text(hint, "message")));
        out.flush();
    }

    private static @Nullable String textOrNull(JsonNode node, String field) {
        return node.hasNonNull(field) ? node.path(field).asString() : null;
    }

    private int many(Many many) {
        JsonNode answer = service.post(
                "/api/v1/experiments/bulk?mode=%s&dryRun=%s&suggest=%s"
                        .formatted(many.each ? "each" : "all", many.dryRun || suggest, suggest || fill),
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
            if (line.hasNonNull("message") || line.hasNonNull("suggested") || line.hasNonNull("hints")) {
                rows++;
                table.row(
                        line.path("line").asLong(),
                        text(line, "project") + "/" + text(line, "code"),
                        text(line, "outcome").toLowerCase(java.util.Locale.ROOT),
                        text(line, "field"),
                        remarks(line));
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

    /** The verdict's message, what of the line is suggested, and what is to be known of its folder. */
    private static String remarks(JsonNode line) {
        List<String> remarks = new ArrayList<>();
        if (line.hasNonNull("message")) {
            remarks.add(text(line, "message"));
        }
        if (line.hasNonNull("suggested")) {
            List<String> said = new ArrayList<>();
            line.path("suggested").forEach(field -> {
                String name = field.asString("");
                said.add("%s %s".formatted(name, text(line, name)));
            });
            remarks.add("suggested: " + String.join(", ", said));
        }
        line.path("hints").forEach(hint -> remarks.add(text(hint, "message")));
        return String.join("; ", remarks);
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
