package dozo.command;

import dozo.run.Equipment.Difference;
import dozo.run.Services;
import dozo.run.Services.SeenService;
import dozo.run.Services.SeenWorker;
import java.io.PrintWriter;
import java.util.List;
import java.util.stream.Collectors;

/** Shows the services with one database on a terminal: who is active, who stands by, and that nobody does. */
final class ServiceReport {

    private ServiceReport() {}

    /** Prints nothing if there is only one service, and no worker that differs from it. */
    static void print(PrintWriter out, List<SeenService> services, List<SeenWorker> workers) {
        if (services.size() > 1) {
            printServices(out, services);
        }
        services.forEach(each -> printDifferences(out, each.name(), each.differences()));
        workers.forEach(each -> printDifferences(out, "worker " + each.name(), each.differences()));
    }

    private static void printDifferences(PrintWriter out, String name, List<Difference> differences) {
        for (Difference each : differences) {
            String line = "  %s: %s".formatted(Connection.visible(name), Connection.visible(each.words()));
            out.println(each.grave() ? Colour.BAD.of(line) : line);
        }
    }

    private static void printServices(PrintWriter out, List<SeenService> services) {
        out.println("services: " + services.stream().map(ServiceReport::words).collect(Collectors.joining(", ")));
        if (!Services.missing(services).isEmpty()) {
            out.println(Colour.BAD.of("  no service stands by: if the active one fails, nobody takes over"));
        }
    }

    private static String words(SeenService service) {
        String name = Connection.visible(service.name());
        return switch (service.state()) {
            case ACTIVE -> name + " is active";
            case STANDS_BY -> name + " stands by";
            case STOPPED -> "%s was stopped %s".formatted(name, Times.text(service.seenAt()));
            case AWAY -> "%s does not respond since %s".formatted(name, Times.text(service.seenAt()));
        };
    }
}
