package dozo;

import static java.util.Objects.requireNonNull;

import dozo.command.Colour;
import dozo.command.Exit;
import dozo.command.Failure;
import dozo.file.Malformed;
import dozo.identity.CatalogueScan;
import dozo.identity.FileScan;
import dozo.identity.Places;
import dozo.identity.Places.Found;
import dozo.identity.SiteScan;
import dozo.identity.Wanted;
import dozo.ledger.Ledger;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import dozo.start.DatabaseLogin;
import dozo.start.Schema;
import dozo.start.Schema.Standing;
import dozo.start.Settings;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.InstantSource;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.json.JsonMapper;

/** Searches for names and numbers of people. It needs no service. */
@Command(
        name = "identity",
        mixinStandardHelpOptions = true,
        description = "Searches for names and numbers of people where none may be: scan.")
final class IdentityCommand {

    private static final int LINES_SHOWN = 10;

    @Spec
    private @Nullable CommandSpec spec;

    /** What programs read. */
    private record Report(List<String> searched, List<Found> found) {}

    @Command(
            name = "scan",
            mixinStandardHelpOptions = true,
            description = {
                "Searches for names and numbers in the database, at the sites and in files such as logs, and says where they are, but",
                "not which: only the number of the line in the list. It changes nothing. It takes the settings of the service: run it as",
                "the service's user, with the same environment."
            },
            footer = {"", "Exit code 0: none was found; 1: some were; 69: not everything could be read."})
    int scan(
            @Option(
                            names = "--names",
                            required = true,
                            paramLabel = "FILE",
                            description = "What to search for: UTF-8, a name or number in each line.")
                    Path list,
            @Option(
                            names = "--site",
                            paramLabel = "S",
                            description = "Only this site; - for none. Repeatable. Without it, all sites.")
                    @Nullable
                    List<String> sites,
            @Option(
                            names = "--project",
                            paramLabel = "P",
                            description = "Of the sites, only the folders of this project. Repeatable.")
                    @Nullable
                    List<String> projects,
            @Option(names = "--json", description = "Prints JSON.") boolean json,
            @Parameters(arity = "0..*", paramLabel = "PATH", description = "A file or folder on this machine.")
                    @Nullable
                    List<Path> paths)
            throws InterruptedException {
        Places places = new Places();
        try {
            Wanted wanted = Wanted.of(list);
            DatabaseLogin catalogue = catalogue();
            List<Site> wantedSites = sites(catalogue, sites);
            new CatalogueScan(wanted, places).run(catalogue);
            for (Site site : wantedSites) {
                new SiteScan(wanted, places).run(site, projects == null ? Set.of() : new LinkedHashSet<>(projects));
            }
            for (Path path : paths == null ? List.<Path>of() : paths) {
                new FileScan(wanted, places).run(path);
            }
        } catch (Malformed e) {
            throw new Failure(Exit.USAGE, "--names: " + e.getMessage());
        } catch (NoSuchFileException e) {
            throw unread("%s does not exist".formatted(e.getMessage()));
        } catch (AccessDeniedException e) {
            throw unread("no permission for " + e.getMessage());
        } catch (IOException | SQLException e) {
            throw unread(String.valueOf(e.getMessage()));
        }
        print(places, json);
        return places.found().isEmpty() ? Exit.WELL : Exit.NOT_SAFE;
    }

    private static DatabaseLogin catalogue() throws IOException {
        Settings settings = Application.settings().of(Settings.class);
        DatabaseLogin login = DatabaseLogin.beside(settings)
                .orElseThrow(() -> new Failure(
                        Exit.UNAVAILABLE,
                        "the embedded database does not run, because the service does not: start it first"));
        if (new Schema(login).standing() != Standing.CURRENT) {
            throw new Failure(
                    Exit.UNAVAILABLE,
                    "the database cannot be read, or belongs to another version of Dozo: run dozo doctor");
        }
        return login;
    }

    private static List<Site> sites(DatabaseLogin catalogue, @Nullable List<String> wanted) {
        JdbcClient jdbc = JdbcClient.create(catalogue);
        InstantSource clock = InstantSource.system();
        List<Site> all = new Sites(jdbc, new Ledger(jdbc, clock), clock).all();
        if (wanted == null) {
            return all;
        }
        Set<String> names = all.stream().map(Site::name).collect(Collectors.toSet());
        for (String name : wanted) {
            if (!name.equals("-") && !names.contains(name)) {
                throw new Failure(Exit.REFUSED, "site: there is no site \"%s\"".formatted(name));
            }
        }
        return all.stream().filter(site -> wanted.contains(site.name())).toList();
    }

    private void print(Places places, boolean json) {
        PrintWriter out = requireNonNull(spec).commandLine().getOut();
        List<Found> found = places.found();
        if (json) {
            out.println(JsonMapper.builder()
                    .build()
                    .writerWithDefaultPrettyPrinter()
                    .writeValueAsString(new Report(places.searched(), found)));
        } else {
            places.searched().forEach(what -> out.println("searched " + what));
            found.forEach(one -> out.println(
                    "%s  %s: %,d, lines %s".formatted(Colour.BAD.of("found"), one.where(), one.hits(), shown(one))));
            out.println(
                    found.isEmpty()
                            ? "none of the names was found"
                            : "names are in %,d places".formatted(found.size()));
        }
        out.flush();
    }

    private static String shown(Found found) {
        String lines =
                found.lines().stream().limit(LINES_SHOWN).map(String::valueOf).collect(Collectors.joining(", "));
        return found.lines().size() > LINES_SHOWN ? lines + " …" : lines;
    }

    private static Failure unread(String why) {
        return new Failure(Exit.UNAVAILABLE, "not everything could be read: " + why);
    }
}
