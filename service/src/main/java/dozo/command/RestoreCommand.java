package dozo.command;

import static java.util.Objects.requireNonNull;

import dozo.api.ManifestApi.ShownItem;
import dozo.api.ManifestApi.ShownManifest;
import dozo.api.SiteApi.ShownSite;
import dozo.api.http.Page;
import dozo.copy.Copy;
import dozo.copy.Copy.Options;
import dozo.copy.Copy.Progress;
import dozo.copy.Inventory;
import dozo.copy.Inventory.Item;
import dozo.copy.Inventory.StoredCopy;
import dozo.copy.Restore;
import dozo.copy.RestoreToServer;
import dozo.file.Attributes;
import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.file.Malformed;
import dozo.file.Owner;
import dozo.file.PathPattern;
import dozo.file.Selection;
import dozo.plan.Work;
import dozo.remote.RemoteException;
import dozo.remote.SiteAddress;
import dozo.remote.Way;
import dozo.restore.KeptRestore;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * Restores a manifest. The service lists the entries and the places of their copies. This process downloads them from
 * the site to this machine and verifies them here: no content comes from the service.
 */
@Command(
        name = "restore",
        mixinStandardHelpOptions = true,
        description = "Restores a manifest from the site into a folder of this machine, and verifies every file;"
                + " with --in-service, into a folder of the service's machine; with --in-place, into the experiment's source;"
                + " or into a folder of an SFTP server.",
        footer = {
            "",
            "With --in-service the service fetches the files, with its own key for the site, into a folder below one that",
            "an administrator allowed (dozo project restore-roots). The files belong to the user it runs as. The command",
            "follows it to its end; the service continues if the command is stopped.",
            "",
            "With --in-place the service restores into the source. What stands there with the same bytes, size and time stays.",
            "What differs is first moved into a folder that the command prints: below a restore folder of the project, on the",
            "file system of the source. The service's user must be able to write in the source.",
            "",
            "With TARGET - one file, or a folder as a tar archive, is written to standard output. The service reads it at the",
            "site and breaks off if it is not what was verified: exit code 69. For small things.",
            "",
            "TARGET may be a folder of an SFTP server, USER@HOST:/FOLDER; its parent must exist. This machine reads the files",
            "from the site and sends them on, and stores none. User, keys and known hosts are those of ssh, as for dozo copy:",
            "a server with an unknown host key is refused. Put ./ before a local name with a colon. The server gets modes,",
            "times in whole seconds, and links; hard links become files of their own.",
            "",
            "With --to orthanc, TARGET is the name of an origin of the kind dicomweb: the service sends the DICOM files into that",
            "archive, and reads back what it has. Instances with the same bytes are not sent again. Instances with other bytes",
            "stay as they are, unless --replace is given and the archive permits it.",
            "",
            "With --to flywheel, TARGET is the name of an origin of the kind flywheel: the service creates what is missing of the",
            "session, what describes it, and its files. What is there and differs stays, unless --replace is given.",
            "",
            "With --to xnat, TARGET is the name of an origin of the kind xnat: the service creates what is missing of the session,",
            "and sends its files. Files with other bytes stay, unless --replace is given.",
            "",
            "With --project, --all or --list the service restores many experiments, one after the other: into TARGET by",
            "--in-service (each into TARGET/PROJECT.EXPERIMENT), --in-place or --to. One that fails does not stop the others.",
            "dozo restore-batch shows, stops and resumes them.",
            "",
            "Nothing is overwritten. After an interruption, or if something is missing, repeat the command to finish",
            "the rest. Exit code 0: everything is restored; 1: the findings list what is not."
        })
final class RestoreCommand implements Callable<Integer> {

    private static final String STANDARD_OUTPUT = "-";

    @Mixin
    private final Connection service = new Connection();

    @ArgGroup
    private @Nullable Version version;

    @Option(
            names = "--path",
            paramLabel = "PATH",
            description = "Only this folder or file of the experiment; it keeps its path below TARGET. Repeatable.")
    private List<String> paths = List.of();

    @Option(
            names = "--paths-from",
            paramLabel = "FILE",
            description =
                    "Only the folders and files in this list (- for standard input), one in a line, or each ended by"
                            + " a NUL, as by find -print0.")
    private @Nullable String list;

    @Option(
            names = "--pattern",
            paramLabel = "PATTERN",
            description =
                    "Only what matches: *.nii is compared with names in any folder, anat/**/*.json with whole paths;"
                            + " *, ? and [a-z] match bytes of a name. Repeatable.")
    private List<String> patterns = List.of();

    @Option(
            names = "--series",
            paramLabel = "UID",
            description =
                    "Only the DICOM files of the series with this SeriesInstanceUID; with --to, --in-service and --in-place."
                            + " Repeatable.")
    private List<String> series = List.of();

    @Option(names = "--site", paramLabel = "S", description = "The site; optional if there is only one.")
    private @Nullable String site;

    @Option(
            names = {"-i", "--identity"},
            paramLabel = "FILE",
            description = "Private key for the site (the service's own, if it can be read here).")
    private @Nullable Path identity;

    @Option(
            names = "-o",
            paramLabel = "OPTION=VALUE",
            description = "An option of ssh for the server in TARGET: " + Login.UNDERSTOOD + ". Repeatable.")
    private List<String> options = List.of();

    @Option(names = "--dry-run", description = "Prints what would be restored and the minimum time; changes nothing.")
    private boolean dryRun;

    @Option(
            names = "--in-service",
            description = "The service restores into TARGET, an absolute path on its own machine.")
    private boolean inService;

    @Option(names = "--in-place", description = "The service restores into the experiment's source; without TARGET.")
    private boolean inPlace;

    @Option(
            names = "--to",
            paramLabel = "orthanc|flywheel|xnat",
            description =
                    "The service sends the files into the archive, Flywheel or XNAT TARGET, the name of an origin.")
    private @Nullable Archive archive;

    @Option(names = "--replace", description = "With --to: replaces what has other bytes or values there, too.")
    private boolean replaces;

    @Option(
            names = "--no-owners",
            description = "Everything belongs to the user who restores. Otherwise owners, setuid and setgid come back:"
                    + " run it as root. A restore by the service is without owners, except in place.")
    private boolean withoutOwners;

    @Mixin
    private final ManyRestores many = new ManyRestores();

    @Parameters(
            index = "0",
            arity = "0..1",
            paramLabel = "PROJECT/EXPERIMENT",
            description = "The experiment; left out with --project, --all and --list.")
    private String experiment = "";

    @Parameters(
            index = "1",
            arity = "0..1",
            paramLabel = "TARGET",
            description =
                    "A folder that is empty or does not exist yet: here, or USER@HOST:/FOLDER; or - for standard output.")
    private String target = "";

    /** The kind of an archive. */
    enum Archive {
        orthanc,
        flywheel,
        xnat
    }

    /** Selects a manifest; by default the latest. */
    static final class Version {

        @Option(names = "--manifest", paramLabel = "N", description = "The manifest with this number.")
        @Nullable
        Integer number;

        @Option(
                names = "--as-of",
                paramLabel = "WHEN",
                description = "The latest manifest at the end of a day, or at a time: yesterday, 7d, 2026-11-28.",
                converter = When.End.class)
        @Nullable
        String asOf;
    }

    @Override
    public Integer call() throws InterruptedException {
        boolean several = many.areAsked();
        if (several) {
            moveTarget();
        }
        String address = several ? "" : Dozo.experimentAddress(service.commandLine(), experiment);
        if (inPlace != target.isEmpty()) {
            throw new Failure(Exit.USAGE, "TARGET: expected a folder, or --in-place without a folder");
        }
        if (replaces && archive == null) {
            throw new Failure(Exit.USAGE, "--replace: only with --to");
        }
        if (inService && archive != null) {
            throw new Failure(Exit.USAGE, "--to: not with --in-service, which restores into a folder");
        }
        if (inPlace && archive != null) {
            throw new Failure(Exit.USAGE, "--to: not with --in-place, which restores into the source");
        }
        if (!series.isEmpty() && !inPlace && !inService && archive == null) {
            throw new Failure(Exit.USAGE, "--series: only with --to, --in-service or --in-place");
        }
        String restores = several ? "" : address + "/restores";
        if (inPlace) {
            return inService(restores, "--in-place", Map.of("inPlace", true));
        }
        if (inService) {
            return inService(restores, "--in-service", Map.of("folderBytes", RawArgument.path(target)));
        }
        if (archive != null) {
            return inService(restores, "--to", Map.of("origin", target, "replaces", replaces));
        }
        if (several) {
            throw new Failure(Exit.USAGE, "several experiments: only with --in-place, --in-service or --to");
        }
        String manifests = address + "/manifests";
        ShownManifest manifest = ManifestCommand.find(service, manifests, experiment, number(), asOf())
                .value();
        if (target.equals(STANDARD_OUTPUT)) {
            return written("%s/%d/download".formatted(manifests, manifest.number()));
        }
        ShownSite from = site();
        String entries = "%s/%d/entries".formatted(manifests, manifest.number());
        Inventory inventory = (after, limit) -> page(new Query(entries)
                .with("site", from.name())
                .with("limit", Math.min(limit, Page.LIMIT_MAX))
                .with("after", Base64.getEncoder().encodeToString(after.bytes())));
        try (Copy restore = restore(inventory, manifest, from)) {
            return run(restore, manifest, from);
        } catch (RemoteException e) {
            throw new Failure(CopyCommand.exitCode(e.reason()), Login.visible(String.valueOf(e.getMessage())));
        } catch (IOException e) {
            throw new Failure(Exit.REFUSED, Login.visible(String.valueOf(e.getMessage())));
        }
    }

    /** Several experiments are not named by a parameter: the first one is TARGET. */
    private void moveTarget() {
        if (!target.isEmpty() || number() != null || !selection().isAll() || !series.isEmpty()) {
            throw new Failure(
                    Exit.USAGE,
                    "several experiments: expected no PROJECT/EXPERIMENT, --manifest, --path, --paths-from, --pattern or --series");
        }
        target = experiment;
    }

    /** Writes a file, or a folder as an archive, which the service reads at the site. */
    private int written(String download) {
        Selection selection = selection();
        if (!selection.patterns().isEmpty() || selection.paths().size() > 1) {
            throw new Failure(Exit.USAGE, "TARGET -: choose one --path, or none for everything");
        }
        Query order = new Query(download).with("site", site);
        if (!selection.isAll()) {
            byte[] path = selection.paths().getFirst().bytes();
            order = order.with("pathBytes", Base64.getEncoder().encodeToString(path));
        }
        try (OutputStream out = new FileOutputStream(FileDescriptor.out)) {
            service.order(order.toString(), in -> in.transferTo(out));
        } catch (IOException e) {
            throw new Failure(Exit.UNAVAILABLE, "standard output cannot be written: " + e.getMessage());
        }
        return Exit.WELL;
    }

    private Copy restore(Inventory inventory, ShownManifest manifest, ShownSite from)
            throws RemoteException, InterruptedException {
        Options how = new Options(0, 0, dryRun);
        if (Location.of(RawArgument.typed(target)) instanceof Location.There there) {
            return new RestoreToServer(
                    inventory,
                    experiment,
                    manifest.number(),
                    selection(),
                    address(from),
                    from.name(),
                    CopyRequest.folder(there, login()),
                    how);
        }
        if (!options.isEmpty()) {
            throw new Failure(Exit.USAGE, "-o: only if TARGET is a folder of an SFTP server");
        }
        return new Restore(
                inventory,
                experiment,
                manifest.number(),
                selection(),
                address(from),
                FilePath.pathOf(RawArgument.path(target)),
                withoutOwners ? how : how.withOwners());
    }

    private Login login() {
        Login login = new Login();
        options.forEach(login::option);
        return login;
    }

    private Selection selection() {
        try {
            List<FilePath> all = new ArrayList<>();
            paths.forEach(path -> all.add(Selection.path(RawArgument.typed(path))));
            if (list != null) {
                all.addAll(Selection.list(list(list)));
            }
            return new Selection(
                    all,
                    patterns.stream()
                            .map(pattern -> PathPattern.of(RawArgument.typed(pattern)))
                            .toList());
        } catch (Malformed e) {
            throw new Failure(Exit.USAGE, Login.visible(String.valueOf(e.getMessage())));
        }
    }

    private static byte[] list(String from) {
        return RawArgument.content("--paths-from", from, Selection.LIST_BYTES_MAX);
    }

    /**
     * @param restores the address of the restores of an experiment; empty: several experiments are restored
     * @param into where it goes, as REST says it
     */
    private int inService(String restores, String option, Map<String, Object> into) throws InterruptedException {
        if (identity != null) {
            throw new Failure(Exit.USAGE, "--identity: with %s the service uses its own key".formatted(option));
        }
        if (dryRun) {
            throw new Failure(Exit.USAGE, "--dry-run: not with " + option);
        }
        if (!options.isEmpty()) {
            throw new Failure(Exit.USAGE, "-o: not with " + option);
        }
        Map<String, @Nullable Object> wanted = new HashMap<>(into);
        Selection selection = selection();
        // NB: an empty list is refused, because it does not mean everything.
        if (!selection.paths().isEmpty()) {
            wanted.put(
                    "pathsBytes",
                    selection.paths().stream().map(FilePath::bytes).toList());
        }
        if (!selection.patterns().isEmpty()) {
            wanted.put(
                    "patternsBytes",
                    selection.patterns().stream().map(PathPattern::bytes).toList());
        }
        if (!series.isEmpty()) {
            wanted.put("series", series);
        }
        wanted.put("site", site);
        wanted.put("asOf", asOf());
        if (restores.isEmpty()) {
            return many.run(service, wanted, archive != null);
        }
        wanted.put("manifest", number());
        Answer<KeptRestore> restore =
                service.post(archive == null ? restores : restores + "/archive", wanted, KeptRestore.class);
        return RestoreReport.follow(
                service, restore, restores + "/" + restore.value().id());
    }

    private int run(Copy restore, ShownManifest manifest, ShownSite from) throws IOException, InterruptedException {
        PrintWriter out = service.out();
        PrintWriter err = service.commandLine().getErr();
        CopyReport report = new CopyReport();
        long began = System.nanoTime();
        Work expected = selection().isAll()
                ? new Work(manifest.bytes(), manifest.files() + manifest.folders() + manifest.links())
                : null;
        Progress end;
        try (CopyMeter meter = CopyMeter.of(restore, err, service.quiet(), expected)) {
            meter.say("%s, manifest %d, sealed %s"
                    .formatted(manifest.experiment(), manifest.number(), Times.text(manifest.sealedAt())));
            end = restore.run(finding -> meter.say(report.add(finding)));
        }
        double seconds = (System.nanoTime() - began) / (double) TimeUnit.SECONDS.toNanos(1);
        String host = Connection.visible(from.host());
        if (service.json()) {
            out.println(report.json(end, seconds, 0));
        } else if (dryRun) {
            out.println(CopyReport.dryLine(end, 0));
        } else {
            String where = restore instanceof RestoreToServer there ? "at " + Connection.visible(there.host()) : "here";
            out.println(report.line(end, "%s, from %s".formatted(where, host), seconds));
        }
        out.flush();
        if (dryRun) {
            return Exit.WELL;
        }
        return end.complete() && !report.hasFindings() ? Exit.WELL : Exit.NOT_SAFE;
    }

    private @Nullable Integer number() {
        return version == null ? null : version.number;
    }

    private @Nullable String asOf() {
        return version == null ? null : version.asOf;
    }

    private ShownSite site() {
        if (site != null) {
            return service.get("/api/v1/sites/" + Connection.encoded(site), ShownSite.class)
                    .value();
        }
        List<ShownSite> all = service.page("/api/v1/sites", ShownSite.class).value();
        if (all.size() != 1) {
            throw new Failure(Exit.REFUSED, "site: there are %d sites; choose one with --site".formatted(all.size()));
        }
        return all.getFirst();
    }

    private SiteAddress address(ShownSite from) {
        Path key = identity != null ? identity.toAbsolutePath() : Path.of(from.identity());
        // NB: a key from --identity is also used for the jump host. Only the service's own settings may name different
        // keys.
        Optional<SiteAddress> before = Optional.ofNullable(from.jump())
                .map(jump -> new SiteAddress(
                        jump.host(),
                        jump.port(),
                        jump.user(),
                        "/",
                        identity != null ? key : Path.of(jump.identity()),
                        jump.hostKey()));
        return new SiteAddress(from.host(), from.port(), from.user(), from.root(), key, from.hostKey())
                .by(new Way(before, from.dscp()));
    }

    private List<Item> page(Query entries) {
        try {
            return service.page(entries.toString(), ShownItem.class).value().stream()
                    .map(RestoreCommand::item)
                    .toList();
        } catch (IllegalArgumentException e) {
            throw new Failure(Exit.UNAVAILABLE, Login.visible("the service sent an invalid entry: " + e.getMessage()));
        }
    }

    private static Item item(ShownItem item) {
        Facts facts = Facts.told(
                item.kind(),
                item.bytes(),
                item.modifiedNs(),
                Facts.UNKNOWN_NANOS,
                item.mode(),
                item.hardLink() == null ? 1 : 2,
                item.hardLink() == null ? 0 : item.hardLink(),
                item.targetBytes(),
                item.user() == null ? null : new Owner(item.user(), requireNonNull(item.group())));
        Attributes attributes = Attributes.of(item.attributes());
        return new Item(
                new Entry(item.entry(), FilePath.of(item.pathBytes()), facts.with(facts.owner(), attributes)),
                item.copyBytes() == null
                        ? null
                        : new StoredCopy(FilePath.of(item.copyBytes()), Digest.ofHex(requireNonNull(item.sha256()))));
    }
}
