package dozo.source.dicomweb;

import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.source.dicom.Damaged;
import dozo.source.dicom.Header;
import dozo.source.dicom.HeaderReader;
import dozo.source.dicom.NotDicom;
import dozo.source.dicom.PseudonymousCode;
import dozo.source.dicom.Tag;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionService;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A folder of this machine into which studies are brought:
 *
 * <pre>
 * SPOOL/STUDY/tree/SERIES/INSTANCE.dcm           what is backed up: one file for each instance, as Orthanc keeps it
 * SPOOL/STUDY/tree/SERIES/INSTANCE~DIGEST.dcm    another content under the same UID
 * SPOOL/STUDY/incoming/…                         what is on its way
 * SPOOL/STUDY/delivered                          what lies in the tree
 * </pre>
 *
 * STUDY is made of the StudyInstanceUID by {@link #folder}. Nothing is written outside of it, and nothing in a tree is ever removed
 * or overwritten. A study is brought by one thread at a time. Only our own user may read a study's folder.
 */
public final class Spool {

    private static final String INCOMING = "incoming";

    private final Orthanc orthanc;
    private final PseudonymousCode codes;
    private final Path spool;
    private final int atOnce;

    /** @param atOnce how many instances of a study are downloaded side by side */
    public Spool(Orthanc orthanc, PseudonymousCode codes, Path spool, int atOnce) {
        this.orthanc = orthanc;
        this.codes = codes;
        this.spool = spool;
        this.atOnce = atOnce;
    }

    /** The name of a study's folder: the first 32 hexadecimal digits of its UID's SHA-256. */
    public static String folder(String studyUid) {
        return Uid.code(studyUid);
    }

    /** The folder that is the study's experiment. */
    public Path tree(String studyUid) {
        return tree(spool, folder(studyUid));
    }

    /** The folder that is the experiment of the study with this folder's name. */
    public static Path tree(Path spool, String folder) {
        return spool.resolve(folder).resolve("tree");
    }

    /**
     * Brings what is not here yet, and compares what Orthanc tells of with what is here.
     *
     * @throws DicomwebException when Orthanc cannot be reached or does not let us in, or the spool cannot be written: what came
     *     by then stays
     * @throws IOException when the spool itself cannot be read or written
     */
    public Delivery deliver(String studyUid) throws IOException, InterruptedException {
        Told told;
        try {
            told = Told.of(orthanc, studyUid);
        } catch (DicomwebException e) {
            if (e.trouble().endsAll()) {
                throw e;
            }
            Item item = Item.of("study " + Uid.shown(studyUid), e);
            return new Delivery(
                    studyUid, folder(studyUid), false, 0, 0, 0, StudyFacts.NONE, List.of(item), List.of(), List.of());
        }
        Path home = spool.resolve(folder(studyUid));
        Files.createDirectories(spool);
        if (!Files.isDirectory(home, LinkOption.NOFOLLOW_LINKS)) {
            Files.createDirectory(
                    home, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        }
        Files.createDirectories(home.resolve("tree"));
        Files.createDirectories(home.resolve(INCOMING));
        try (Delivered delivered = Delivered.in(home, home.resolve("tree"))) {
            return new Bringing(home, told, delivered).bring();
        }
    }

    /** One study's way into its folder. */
    private final class Bringing {

        private final Path home;
        private final Path tree;
        private final Told told;
        private final Delivered delivered;
        private final List<Item> missing = new ArrayList<>();
        private final AtomicInteger failuresInARow = new AtomicInteger();
        private final Set<Path> folders = new HashSet<>();
        private volatile Trouble lastFailure = Trouble.SERVER_FAULT;
        private long fetched;

        Bringing(Path home, Told told, Delivered delivered) {
            this.home = home;
            this.tree = home.resolve("tree");
            this.told = told;
            this.delivered = delivered;
        }

        Delivery bring() throws IOException, InterruptedException {
            sweep();
            try {
                bringAll();
            } finally {
                syncNames();
            }
            int here = told.instances().size() - missing.size();
            missing.sort(Comparator.comparing(Item::name));
            told.counted().ifPresent(missing::add);
            return new Delivery(
                    told.studyUid(),
                    folder(told.studyUid()),
                    told.stable(),
                    told.instances().size(),
                    here,
                    fetched,
                    facts(),
                    missing,
                    findings(),
                    remarks());
        }

        private void bringAll() throws IOException, InterruptedException {
            Map<String, Integer> holders = new HashMap<>();
            told.instances().forEach(instance -> holders.merge(instance.sopUid(), 1, Integer::sum));
            List<Instance> asked = new ArrayList<>();
            for (Instance instance : told.instances()) {
                if (!delivered.has(instance)) {
                    asked.add(instance);
                }
            }
            // Else the same ones, at the beginning, could keep all others from being tried for ever.
            Collections.shuffle(asked);
            // By identity: a future is equal to nothing else.
            IdentityHashMap<Future<Download.Came>, Instance> instances = new IdentityHashMap<>();
            // NB: waits at its end for what is under way, so that nothing writes here when somebody else may.
            try (ExecutorService threads =
                    Executors.newFixedThreadPool(atOnce, Thread.ofVirtual().factory())) {
                CompletionService<Download.Came> coming = new ExecutorCompletionService<>(threads);
                for (Instance instance : asked) {
                    boolean alone = holders.getOrDefault(instance.sopUid(), 0) == 1;
                    instances.put(coming.submit(() -> bring(instance, alone)), instance);
                }
                try {
                    // As each comes, so that a kill costs only what is on its way and not what waits behind a slow one.
                    for (int i = 0; i < asked.size(); i++) {
                        Future<Download.Came> came = coming.take();
                        take(Objects.requireNonNull(instances.get(came)), came);
                    }
                } catch (IOException | InterruptedException | RuntimeException e) {
                    threads.shutdownNow();
                    throw e;
                }
            }
        }

        private Download.Came bring(Instance instance, boolean alone) throws IOException, InterruptedException {
            if (failuresInARow.get() >= Limits.FAILURES_IN_A_ROW_MAX) {
                throw new DicomwebException(
                        lastFailure,
                        "not asked for: %d in a row before it did not come".formatted(failuresInARow.get()));
            }
            try {
                Path part = home.resolve(INCOMING).resolve(instance.id());
                Download.Came came = new Download(orthanc, instance, alone, part).come();
                failuresInARow.set(0);
                return came;
            } catch (DicomwebException e) {
                if (e.trouble().mayBeOfAll()) {
                    lastFailure = e.trouble();
                    failuresInARow.incrementAndGet();
                } else {
                    failuresInARow.set(0);
                }
                throw e;
            }
        }

        private void take(Instance instance, Future<Download.Came> coming) throws IOException, InterruptedException {
            try {
                Download.Came came = coming.get();
                delivered.add(place(came));
                fetched += instance.sizeBytes();
            } catch (ExecutionException e) {
                if (e.getCause() instanceof DicomwebException why
                        && !why.trouble().endsAll()) {
                    missing.add(Item.of(instance.name(), why));
                    return;
                }
                throw unexpected(e);
            }
        }

        /** Gives an instance its final name, which nothing else has. */
        private Delivered.Place place(Download.Came came) throws IOException {
            FilePath path = SpoolName.of(came.instance());
            Delivered.Kind kind = Delivered.Kind.FIRST;
            Path first = path.under(tree);
            if (Files.exists(first, LinkOption.NOFOLLOW_LINKS)
                    && !contentAt(path).equals(came.content())) {
                kind = hasSamePixels(first, came.part()) ? Delivered.Kind.OTHER_HEADER : Delivered.Kind.OTHER_PIXELS;
                path = SpoolName.twin(came.instance(), came.content());
            }
            name(came, path);
            Instance instance = came.instance();
            Optional<String> patient = came.header().text(Tag.PATIENT_ID).flatMap(codes::of);
            return new Delivered.Place(
                    instance.id(),
                    instance.mark(),
                    instance.sizeBytes(),
                    came.content(),
                    patient.orElse(null),
                    kind,
                    path);
        }

        private void name(Download.Came came, FilePath path) throws IOException {
            Path end = path.under(tree);
            if (Files.exists(end, LinkOption.NOFOLLOW_LINKS)) {
                if (!contentAt(path).equals(came.content())) {
                    throw new IOException("in the spool there is something else under the name " + path);
                }
                Files.delete(came.part());
                return;
            }
            Files.createDirectories(end.getParent());
            Files.move(came.part(), end, StandardCopyOption.ATOMIC_MOVE);
            folders.add(end.getParent());
        }

        /** Names to the disk: once for each folder, as a name that is lost costs one more download. */
        private void syncNames() throws IOException {
            for (Path folder : folders) {
                try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
                    channel.force(true);
                }
            }
        }

        private Digest contentAt(FilePath path) throws IOException {
            Path file = path.under(tree);
            Optional<Delivered.Place> known = delivered.at(path);
            return known.isPresent() && known.get().sizeBytes() == Files.size(file)
                    ? known.get().content()
                    : digest(file);
        }

        private StudyFacts facts() throws IOException {
            HeaderReader reader = new HeaderReader();
            List<Header> headers = new ArrayList<>();
            for (FilePath path : delivered.oneOfEachSeries()) {
                switch (reader.read(path.under(tree))) {
                    case Header whole -> headers.add(whole);
                    case Damaged damaged -> headers.add(damaged.before());
                    case NotDicom none -> {
                        // Somebody has changed what lies here; the backup will see that.
                    }
                }
            }
            // Scanners' own images say more of the study than what rides along.
            headers.sort((a, b) -> Boolean.compare(isImage(b), isImage(a)));
            return new StudyFacts(
                    delivered.patients(),
                    first(headers, Tag.MODALITY),
                    first(headers, Tag.STATION_NAME),
                    first(headers, Tag.DEVICE_SERIAL_NUMBER),
                    headers.stream()
                            .flatMap(header -> header.day(Tag.STUDY_DATE).stream())
                            .findFirst(),
                    first(headers, Tag.ACCESSION_NUMBER),
                    first(headers, Tag.REQUESTED_PROCEDURE_ID)
                            .or(() -> first(headers, Tag.REQUEST_REQUESTED_PROCEDURE_ID)));
        }

        private static Optional<String> first(List<Header> headers, Tag tag) {
            return headers.stream().flatMap(header -> header.text(tag).stream()).findFirst();
        }

        private static boolean isImage(Header header) {
            return header.text(Tag.MODALITY).filter("MR"::equals).isPresent();
        }

        private List<Item> findings() {
            List<Item> findings = new ArrayList<>();
            int patients = delivered.patients().size();
            if (patients > 1 || told.parts() > 1) {
                findings.add(new Item(
                        "study " + Uid.shown(told.studyUid()),
                        Trouble.TWO_PATIENTS,
                        "its instances are of %d patients; all are kept".formatted(Math.max(patients, told.parts()))));
            }
            for (Delivered.Place twin : delivered.twins()) {
                boolean pixels = twin.kind() == Delivered.Kind.OTHER_PIXELS;
                findings.add(new Item(
                        twin.path().toString(),
                        pixels ? Trouble.OTHER_PIXELS : Trouble.OTHER_HEADER,
                        "the UID of another instance with other %s; both are kept"
                                .formatted(pixels ? "pixels" : "values in its header")));
            }
            return findings;
        }

        private List<Item> remarks() {
            List<Item> remarks = new ArrayList<>();
            Set<String> ids = new HashSet<>();
            for (Instance instance : told.instances()) {
                ids.add(instance.id());
                if (!instance.hasPlainUids()) {
                    remarks.add(new Item(
                            instance.name(), Trouble.ILLEGAL_UID, "a UID that is none; its code stands for it"));
                }
            }
            for (FilePath path : delivered.besides(ids)) {
                remarks.add(
                        new Item(path.toString(), Trouble.NOT_TOLD, "Orthanc tells of it no more; what is here stays"));
            }
            return remarks;
        }

        /** What an earlier attempt left: an instance comes whole or again. */
        private void sweep() throws IOException {
            try (DirectoryStream<Path> parts = Files.newDirectoryStream(home.resolve(INCOMING))) {
                for (Path part : parts) {
                    Files.delete(part);
                }
            }
        }
    }

    /** NB: without pixels, or with such that cannot be found, they are not the same. */
    private static boolean hasSamePixels(Path one, Path other) throws IOException {
        HeaderReader reader = new HeaderReader();
        Optional<Digest> pixels = reader.pixels(one);
        return pixels.isPresent() && pixels.equals(reader.pixels(other));
    }

    private static Digest digest(Path file) throws IOException {
        MessageDigest digest = Digest.algorithm();
        ByteBuffer bytes = ByteBuffer.allocate(1 << 17);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            while (channel.read(bytes.clear()) >= 0) {
                digest.update(bytes.flip());
            }
        }
        return Digest.of(digest.digest());
    }

    private static IOException unexpected(ExecutionException e) throws InterruptedException {
        return switch (e.getCause()) {
            case IOException io -> io;
            case InterruptedException interrupted -> throw interrupted;
            case RuntimeException defect -> throw defect;
            case null, default -> new IOException(e);
        };
    }
}
