package dozo.command;

import dozo.file.Size;
import dozo.source.delivery.DeliveryException;
import dozo.source.delivery.Item;
import dozo.source.delivery.Limits;
import dozo.source.delivery.Pause;
import dozo.source.delivery.Reconciliation;
import dozo.source.delivery.Trouble;
import dozo.source.flywheel.ApiKey;
import dozo.source.flywheel.Flywheel;
import dozo.source.flywheel.Spool;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.node.ObjectNode;

/** Downloads sessions of Flywheel into a folder on this machine. Needs no service. */
@Command(
        name = "flywheel",
        mixinStandardHelpOptions = true,
        description = "Downloads sessions from Flywheel into a folder, and lists what is missing.",
        footer = {
            "",
            "The key, as Flywheel shows it (HOST:KEY or HOST:PORT:KEY), is in the file DOZO_FLYWHEEL_KEY_FILE.",
            "Downloads each session to SPOOL/ID/tree: register that folder. Existing files are not downloaded again."
        })
final class FlywheelCommand implements Callable<Integer> {

    private static final String KEY_FILE = "DOZO_FLYWHEEL_KEY_FILE";

    @Spec
    private @Nullable CommandSpec spec;

    @Option(
            names = "--spool",
            required = true,
            paramLabel = "SPOOL",
            description = "The folder; created if it does not exist.")
    private @Nullable Path spool;

    @Option(
            names = "--key-file",
            paramLabel = "FILE",
            defaultValue = "${env:" + KEY_FILE + "}",
            description = "The key's file, in place of " + KEY_FILE + ".")
    private @Nullable Path keyFile;

    @Option(
            names = "--at-once",
            paramLabel = "N",
            defaultValue = "4",
            description = "The number of parallel downloads, 1 to 16 (${DEFAULT-VALUE}).")
    private int atOnce;

    @Option(
            names = "--storage-host",
            paramLabel = "HOST",
            description = "A host to which Flywheel may redirect downloads, over TLS; repeatable.")
    private List<String> storageHosts = List.of();

    @Option(names = "--json", description = "Prints everything as JSON.")
    private boolean json;

    @Parameters(paramLabel = "ID", arity = "1..*", description = "Ids of sessions: 24 hexadecimal digits.")
    private List<String> sessions = List.of();

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (atOnce < 1 || atOnce > 16) {
            throw new Failure(Exit.USAGE, "--at-once: expected a number from 1 to 16");
        }
        for (String session : sessions) {
            if (!session.matches("[0-9a-f]{24}")) {
                throw new Failure(
                        Exit.USAGE,
                        "%s: expected a session id of 24 hexadecimal digits".formatted(Login.visible(session)));
            }
        }
        PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
        List<Reconciliation> all = deliver(key(), out);
        if (json) {
            out.println(Connection.JSON.writeValueAsString(
                    all.stream().map(FlywheelCommand::json).toList()));
        }
        out.flush();
        return all.stream().allMatch(Reconciliation::isComplete) ? Exit.WELL : Exit.NOT_SAFE;
    }

    private ApiKey key() {
        if (keyFile == null) {
            throw new Failure(Exit.CONFIGURATION, "no key: set its file with --key-file or %s".formatted(KEY_FILE));
        }
        try {
            return ApiKey.inFile(keyFile);
        } catch (IOException e) {
            throw new Failure(Exit.CONFIGURATION, "the key's file cannot be read: " + Login.visible(e.toString()));
        } catch (IllegalArgumentException e) {
            throw new Failure(Exit.CONFIGURATION, String.valueOf(e.getMessage()));
        }
    }

    private List<Reconciliation> deliver(ApiKey key, PrintWriter out) throws IOException, InterruptedException {
        List<Reconciliation> all = new ArrayList<>();
        try (Flywheel flywheel =
                new Flywheel(key, Limits.USUAL, Set.copyOf(storageHosts), Pause.REAL, InstantSource.system())) {

            Spool into = new Spool(flywheel, Objects.requireNonNull(spool), atOnce);
            for (String session : sessions) {
                Reconciliation came = into.deliver(session);
                all.add(came);
                if (!json) {
                    print(came, into.tree(session), out);
                }
            }
        } catch (DeliveryException e) {
            int code = e.trouble() == Trouble.KEY_REFUSED ? Exit.NOT_ALLOWED : Exit.UNAVAILABLE;
            throw new Failure(code, Login.visible(String.valueOf(e.getMessage())));
        }
        return all;
    }

    /** Returns a reconciliation as JSON. Flywheel's items are sessions. */
    private static ObjectNode json(Reconciliation came) {
        ObjectNode node = Connection.JSON.valueToTree(came);
        node.set("session", node.remove("item"));
        return node;
    }

    private static void print(Reconciliation came, Path tree, PrintWriter out) {
        out.println("%s  %s: %d of %d files are in %s, %s downloaded now; %s"
                .formatted(
                        came.item(),
                        came.label(),
                        came.filesDelivered(),
                        came.filesTold(),
                        Login.visible(tree.toString()),
                        Size.text(came.bytesFetched()),
                        came.isComplete() ? "complete" : "NOT COMPLETE"));
        came.missing().forEach(item -> print("missing", item, out));
        came.remarks().forEach(item -> print("remark", item, out));
        out.flush();
    }

    private static void print(String kind, Item item, PrintWriter out) {
        out.println("  %-7s %-13s %s (%s): %s"
                .formatted(kind, item.trouble(), item.name(), item.id(), Login.visible(item.message())));
    }
}
