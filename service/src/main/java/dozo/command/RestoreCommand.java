package dozo.command;

import static java.util.Objects.requireNonNull;

import dozo.copy.Copy.Options;
import dozo.copy.Copy.Progress;
import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.EntryKind;
import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.remote.RemoteException;
import dozo.remote.SiteAddress;
import dozo.restore.Inventory.Item;
import dozo.restore.Inventory.StoredCopy;
import dozo.restore.Restore;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
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
        description = "Brings an experiment back from the site into a folder of this machine, every file proven.",
        footer = {
            "",
            "Nothing is overwritten. After it was cut off, or something could not be had, the same command again",
            "finishes the rest. Exit code 0: all of the manifest is there; 1: not all, the findings say what."
        })
final class RestoreCommand implements Callable<Integer> {

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
        String manifests = "/api/v1/experiments/%s/%s/manifests"
                .formatted(Connection.encoded(codes[0]), Connection.encoded(codes[1]));
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
