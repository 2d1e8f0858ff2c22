package dozo;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.stream.Stream;
import picocli.CommandLine;

/** What a command returned and printed. */
public record Ended(int code, String out, String err) {

    private static final String PASSWORD_FILE = "dozo.password.file";

    /** Runs a command in this process that asks this service, as its administrator. */
    public static Ended at(RunningService service, String... arguments) {
        System.setProperty(PASSWORD_FILE, service.passwordFile().toString());
        try {
            return of(Stream.concat(Stream.of(arguments), Stream.of("--url", service.url()))
                    .toArray(String[]::new));
        } finally {
            System.clearProperty(PASSWORD_FILE);
        }
    }

    /** Runs a command in this process. */
    public static Ended of(String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CommandLine commandLine = Application.commandLine(arguments);
        commandLine.setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
        int code = commandLine.execute(arguments);
        return new Ended(code, out.toString(), err.toString());
    }
}
