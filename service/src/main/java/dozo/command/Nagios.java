package dozo.command;

import java.io.PrintWriter;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The result of a check for Nagios, Icinga and other programs that run monitoring plugins (Monitoring Plugins Development
 * Guidelines): one line with performance data, and the exit codes 0 to 3.
 */
public enum Nagios {
    OK(0),
    WARNING(1),
    CRITICAL(2),
    /** Nothing is known: never success. */
    UNKNOWN(3);

    private final int exitCode;

    Nagios(int exitCode) {
        this.exitCode = exitCode;
    }

    /**
     * Prints the line.
     *
     * @param said one sentence; a vertical bar, which would begin the data, becomes a slash
     * @param data values by their labels, which have no quote and no equals sign
     * @return the exit code
     */
    public int print(PrintWriter out, String said, Map<String, Long> data) {
        String values = data.entrySet().stream()
                .map(each -> " '%s'=%d".formatted(each.getKey(), each.getValue()))
                .collect(Collectors.joining());
        out.println("DOZO " + name() + " - " + said.replace('|', '/').replaceAll("\\s+", " ")
                + (values.isEmpty() ? "" : " |" + values));
        out.flush();
        return exitCode;
    }
}
