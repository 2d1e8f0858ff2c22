package dozo;

import static java.util.Objects.requireNonNull;

import dozo.command.Colour;
import dozo.command.Exit;
import dozo.command.Nagios;
import dozo.doctor.Doctor;
import dozo.doctor.Installation;
import dozo.doctor.Result;
import dozo.doctor.Result.State;
import dozo.start.Given;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import tools.jackson.databind.json.JsonMapper;

/** Checks an installation. It needs no service. */
@Command(
        name = "doctor",
        mixinStandardHelpOptions = true,
        description = {
            "Checks an installation: Java, settings, the work folder, the database, sites, sources and schedules; and says how to",
            "cure what it finds. It takes the settings of the service: run it as the service's user, with the same environment,",
            "before the first start or beside the running service. It starts and changes nothing; at sites it writes and removes",
            "small test files, as dozo site check does."
        },
        footer = {
            "",
            "Exit code 0: all is well, with hints at most; 1: warnings, or something is broken: a person must do something."
        })
final class DoctorCommand implements Callable<Integer> {

    private static final int SECONDS_MAX = 3_600;

    /** The length of the longest word for a state. */
    private static final int WORD = State.WARNING.name().length();

    private static final Map<State, Colour> COLOURS = Map.of(
            State.OK, Colour.GOOD, State.HINT, Colour.GOOD, State.WARNING, Colour.WAITING, State.BROKEN, Colour.BAD);

    @Spec
    private @Nullable CommandSpec spec;

    @Option(names = "--json", description = "Prints JSON: the worst state, and all results.")
    private boolean json;

    @Option(
            names = "--nagios",
            description = "Prints one line for Nagios or Icinga. Exit code 0: OK, 1: WARNING, 2: CRITICAL, 3: UNKNOWN.")
    private boolean nagios;

    @Option(
            names = "--timeout",
            paramLabel = "SECONDS",
            defaultValue = "60",
            description = "The time for all checks, which run at the same time: 1 to 3600 (60).")
    private int seconds = 60;

    /** What programs read. */
    private record Report(State state, List<Result> results) {}

    @Override
    public Integer call() {
        if (seconds < 1 || seconds > SECONDS_MAX) {
            throw new ParameterException(
                    requireNonNull(spec).commandLine(),
                    "--timeout %d: expected 1 to %d".formatted(seconds, SECONDS_MAX));
        }
        Given given = Application.settings();
        List<Result> results =
                Doctor.examine(new Installation(given, InstantSource.system(), Duration.ofSeconds(seconds)));
        State worst = results.stream().map(Result::state).max(State::compareTo).orElse(State.OK);
        PrintWriter out = requireNonNull(spec).commandLine().getOut();
        if (nagios) {
            return check(out, worst, results);
        }
        if (json) {
            out.println(JsonMapper.builder()
                    .build()
                    .writerWithDefaultPrettyPrinter()
                    .writeValueAsString(new Report(worst, results)));
        } else {
            print(out, results);
        }
        out.flush();
        return worst.needsPerson() ? Exit.NOT_SAFE : Exit.WELL;
    }

    private static int check(PrintWriter out, State worst, List<Result> results) {
        Nagios nagios = switch (worst) {
            case OK, HINT -> Nagios.OK;
            case WARNING -> Nagios.WARNING;
            case BROKEN -> Nagios.CRITICAL;
        };
        String said = results.stream()
                .filter(each -> each.state() == worst && worst.needsPerson())
                .map(each -> each.about() + ": " + each.message())
                .findFirst()
                .orElse("%d checks".formatted(results.size()));
        Map<String, Long> data = new TreeMap<>();
        data.put("broken", count(results, State.BROKEN));
        data.put("warnings", count(results, State.WARNING));
        return nagios.print(out, said, data);
    }

    private static void print(PrintWriter out, List<Result> results) {
        int width =
                results.stream().mapToInt(each -> each.about().length()).max().orElse(0);
        for (Result each : results) {
            String about = each.about() + " ".repeat(width - each.about().length());
            out.println("%s  %s  %s".formatted(shown(each.state()), about, each.message()));
            if (!each.cure().isEmpty()) {
                out.println("%s  cure: %s".formatted(" ".repeat(WORD + 2 + width), each.cure()));
            }
        }
        out.println();
        out.println("broken: %d, warnings: %d, hints: %d, ok: %d"
                .formatted(
                        count(results, State.BROKEN),
                        count(results, State.WARNING),
                        count(results, State.HINT),
                        count(results, State.OK)));
    }

    private static String shown(State state) {
        String word = state.name().toLowerCase(Locale.ROOT);
        return requireNonNull(COLOURS.get(state)).of(word) + " ".repeat(WORD - word.length());
    }

    private static long count(List<Result> results, State state) {
        return results.stream().filter(each -> each.state() == state).count();
    }
}
