package dozo.command;

import static java.util.Objects.requireNonNull;

import dozo.copy.Copy.Options;
import dozo.copy.Copy.Progress;
import dozo.copy.Inventory.Item;
import dozo.copy.Inventory.StoredCopy;
import dozo.copy.Restore;
import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.EntryKind;
import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.file.Size;
import dozo.remote.RemoteException;
import dozo.remote.SiteAddress;
import dozo.restore.Restores.RestoreState;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/**
 * Brings a manifest back. The service says what it holds and where the copies lie; they are fetched from the site by this process,
 * to this machine, and proven here: nothing but names comes from the service.
 */
@Command(
        name = "restore",
        mixinStandardHelpOptions = true,
        description = "Brings an experiment back from the site into a folder of this machine, every file proven;"
                + " with --in-service, into a folder of the service's machine.",
        footer = {
            "",
            "With --in-service the service fetches the files, with its own key for the site, into a folder below one that",
            "an administrator allowed (dozo project restore-roots). The files belong to the user it runs as. The command",
            "follows it to its end; the service goes on if the command is ended.",
            "",
            "Nothing is overwritten. After it was cut off, or something could not be had, the same command again",
            "finishes the rest. Exit code 0: all of the manifest is there; 1: not all, the findings say what."
        })
final class RestoreCommand implements Callable<Integer> {

    private static final Duration POLL = Duration.ofSeconds(1);

    @Spec
    private @Nullable CommandSpec spec;

    @Mixin
    private final Connection service = new Connection();

    @ArgGroup
    private @Nullable Version version;

    @Option(names = "--site", paramLabel = "S", description = "From which site; not needed for the only one.")
    private @Nullable String site;

    @Option(
            names = {"-i", "--identity"},
            paramLabel = "FILE",
            description = "Private key for the site (the service's own, if it can be read here).")
    private @Nullable Path identity;

    @Option(
            names = "--in-service",
            description = "The service restores, into TARGET on its own machine: an absolute path.")
    private boolean inService;

    @Parameters(index = "0", paramLabel = "PROJECT/EXPERIMENT", description = "The experiment.")
    private String experiment = "";

    @Parameters(index = "1", paramLabel = "TARGET", description = "A folder that is empty or not there yet.")
    private String target = "";

    /** Which manifest; the latest where none is named. */
    static final class Version {

        @Option(names = "--manifest", paramLabel = "N", description = "The manifest with this number.")
        @Nullable
        Integer number;

        @Option(
                names = "--as-of",
                paramLabel = "TIME",
                description = "The manifest that was the latest then: a day, or a time as 2026-10-01T15:00:00Z.")
        @Nullable
        String asOf;
    }

    @Override
    public Integer call() throws InterruptedException {
        String[] codes = experiment.split("/", -1);
        if (codes.length != 2) {
            throw new Failure(Exit.USAGE, "%s: an experiment is named PROJECT/EXPERIMENT".formatted(experiment));
        }
        String address =
                "/api/v1/experiments/%s/%s".formatted(Connection.encoded(codes[0]), Connection.encoded(codes[1]));
        if (inService) {
            return inService(address + "/restores");
        }
        String manifests = address + "/manifests";
        JsonNode manifest = manifest(manifests);
        int number = manifest.path("number").asInt();
        JsonNode from = site();
        String entries = "%s/%d/entries?site=%s"
                .formatted(
                        manifests, number, Connection.encoded(from.path("name").asString()));
        try (Restore restore = new Restore(
                (after, limit) -> page(entries, after, limit),
                codes[0] + "/" + codes[1],
                number,
                address(from),
                FilePath.pathOf(RawArgument.path(target)),
                new Options(0, 0, false))) {
            return run(restore, manifest, from);
        } catch (RemoteException e) {
            throw new Failure(CopyCommand.exitCode(e.reason()), Login.visible(String.valueOf(e.getMessage())));
        } catch (IOException e) {
            throw new Failure(Exit.REFUSED, Login.visible(String.valueOf(e.getMessage())));
        }
    }

    private int inService(String restores) throws InterruptedException {
        if (identity != null) {
            throw new Failure(Exit.USAGE, "--identity: with --in-service the service uses its own key");
        }
        Map<String, Object> wanted = new HashMap<>();
        wanted.put("folderBytes", RawArgument.path(target));
        if (site != null) {
            wanted.put("site", site);
        }
        if (version != null && version.number != null) {
            wanted.put("manifest", version.number);
        }
        if (version != null && version.asOf != null) {
            wanted.put("asOf", version.asOf);
        }
        PrintWriter out = requireNonNull(spec).commandLine().getOut();
        PrintWriter err = spec.commandLine().getErr();
        JsonNode restore = service.post(restores, wanted);
        String one = restores + "/" + restore.path("id").asLong();
        String last = "";
        while (state(restore).goesOn()) {
            String line = line(restore);
            if (!line.equals(last)) {
                err.println(line);
                err.flush();
            }
            last = line;
            Thread.sleep(POLL);
            restore = service.get(one);
        }
        if (service.json()) {
            out.println(Connection.JSON.writeValueAsString(restore));
        } else {
            out.println(line(restore));
            if (!restore.path("message").asString().isEmpty()) {
                out.println("  " + Connection.visible(restore.path("message").asString()));
            }
            service.all(one + "/findings")
                    .forEach(finding -> out.println("  %s  %s  %s"
                            .formatted(
                                    finding.path("reason").asString(),
                                    Connection.visible(finding.path("path").asString()),
                                    Connection.visible(finding.path("message").asString()))));
        }
        out.flush();
        return state(restore) == RestoreState.COMPLETE ? Exit.WELL : Exit.NOT_SAFE;
    }

    private static RestoreState state(JsonNode restore) {
        return RestoreState.valueOf(restore.path("state").asString());
    }

    private static String line(JsonNode restore) {
        return "restore %d of %s, manifest %d, into %s: %s, %,d of %,d entries, %s of %s, findings: %d"
                .formatted(
                        restore.path("id").asLong(),
                        restore.path("experiment").asString(),
                        restore.path("manifest").asInt(),
                        Connection.visible(restore.path("folder").asString()),
                        restore.path("state").asString().toLowerCase(Locale.ROOT),
                        restore.path("entriesVerified").asLong(),
                        restore.path("entries").asLong(),
                        Size.text(restore.path("bytesVerified").asLong()),
                        Size.text(restore.path("bytes").asLong()),
                        restore.path("findings").asLong());
    }

    private int run(Restore restore, JsonNode manifest, JsonNode from) throws IOException, InterruptedException {
        PrintWriter out = requireNonNull(spec).commandLine().getOut();
        PrintWriter err = spec.commandLine().getErr();
        CopyReport report = new CopyReport();
        long began = System.nanoTime();
        CopyMeter.Manner manner = Terminal.takesErrors() ? CopyMeter.Manner.TERMINAL : CopyMeter.Manner.LINES;
        Progress end;
        try (CopyMeter meter = CopyMeter.of(restore, err, manner)) {
            meter.say("%s, manifest %d, sealed %s"
                    .formatted(
                            manifest.path("experiment").asString(),
                            manifest.path("number").asInt(),
                            manifest.path("sealedAt").asString()));
            end = restore.run(finding -> meter.say(report.add(finding)));
        }
        double seconds = (System.nanoTime() - began) / (double) TimeUnit.SECONDS.toNanos(1);
        String host = Connection.visible(from.path("host").asString());
        out.println(service.json() ? report.json(end, seconds, 0) : report.line(end, "here, from " + host, seconds));
        out.flush();
        return end.complete() && !report.hasFindings() ? Exit.WELL : Exit.NOT_SAFE;
    }

    private JsonNode manifest(String manifests) {
        if (version != null && version.number != null) {
            return service.get(manifests + "/" + version.number);
        }
        String asOf = version == null ? null : version.asOf;
        JsonNode found = service.get(manifests + (asOf == null ? "" : "?asOf=" + Connection.encoded(asOf)))
                .path("items")
                .path(0);
        if (found.isMissingNode()) {
            throw new Failure(
                    Exit.REFUSED,
                    "%s: it has no manifest%s".formatted(experiment, asOf == null ? " yet" : " as of " + asOf));
        }
        return found;
    }

    private JsonNode site() {
        if (site != null) {
            return service.get("/api/v1/sites/" + Connection.encoded(site));
        }
        List<JsonNode> all =
                service.get("/api/v1/sites").path("items").valueStream().toList();
        if (all.size() != 1) {
            throw new Failure(Exit.REFUSED, "site: there are %d sites; name one with --site".formatted(all.size()));
        }
        return all.getFirst();
    }

    private SiteAddress address(JsonNode from) {
        Path key = identity != null
                ? identity.toAbsolutePath()
                : Path.of(from.path("identity").asString());
        return new SiteAddress(
                from.path("host").asString(),
                from.path("port").asInt(),
                from.path("user").asString(),
                from.path("root").asString(),
                key,
                from.path("hostKey").asString());
    }

    private List<Item> page(String entries, FilePath after, int limit) {
        JsonNode page = service.get("%s&limit=%d&after=%s"
                .formatted(
                        entries, limit, Connection.encoded(Base64.getEncoder().encodeToString(after.bytes()))));
        List<Item> items = new ArrayList<>();
        try {
            page.path("items").forEach(item -> items.add(item(item)));
        } catch (IllegalArgumentException e) {
            throw new Failure(
                    Exit.UNAVAILABLE, Login.visible("the service sent an entry that cannot be one: " + e.getMessage()));
        }
        return items;
    }

    private static Item item(JsonNode item) {
        boolean shared = item.hasNonNull("hardLink");
        Facts facts = Facts.told(
                EntryKind.valueOf(item.path("kind").asString().toUpperCase(Locale.ROOT)),
                item.path("bytes").asLong(),
                item.path("modifiedNs").asLong(),
                Facts.UNKNOWN_NANOS,
                item.path("mode").asInt(),
                shared ? 2 : 1,
                item.path("hardLink").asLong(0),
                bytes(item, "targetBytes"));
        byte[] copy = bytes(item, "copyBytes");
        return new Item(
                new Entry(item.path("entry").asInt(), FilePath.of(requireNonNull(bytes(item, "pathBytes"))), facts),
                copy == null
                        ? null
                        : new StoredCopy(
                                FilePath.of(copy),
                                Digest.ofHex(item.path("sha256").asString())));
    }

    private static byte @Nullable [] bytes(JsonNode item, String field) {
        return item.hasNonNull(field)
                ? Base64.getDecoder().decode(item.path(field).asString())
                : null;
    }
}
