package dozo.source.dicomweb;

import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.source.delivery.Delivered;
import dozo.source.delivery.DeliveryException;
import dozo.source.delivery.Fetching;
import dozo.source.delivery.Item;
import dozo.source.delivery.ItemFolder;
import dozo.source.delivery.Part;
import dozo.source.delivery.Reconciliation;
import dozo.source.delivery.Trouble;
import dozo.source.dicom.HeaderReader;
import dozo.source.dicom.PseudonymousCode;
import dozo.source.dicom.Tag;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A spool for studies, each in a folder named by {@link #folder}. Each instance is in {@code tree/SERIES/INSTANCE.dcm},
 * as Orthanc stores it; other content under the same UID is in {@code tree/SERIES/INSTANCE~DIGEST.dcm}. Nothing in a
 * tree is ever overwritten. Only our own user may read a study's folder.
 */
public final class Spool {

    private final Orthanc orthanc;
    private final PseudonymousCode codes;
    private final Path spool;
    private final int atOnce;

    /** @param atOnce how many instances of a study are downloaded in parallel */
    public Spool(Orthanc orthanc, PseudonymousCode codes, Path spool, int atOnce) {
        this.orthanc = orthanc;
        this.codes = codes;
        this.spool = spool;
        this.atOnce = atOnce;
    }

    /** Returns the name of a study's folder: the first 32 hexadecimal digits of its UID's SHA-256. */
    public static String folder(String studyUid) {
        return Uid.code(studyUid);
    }

    /** Returns the folder that is the study's experiment. */
    public Path tree(String studyUid) {
        return tree(spool, folder(studyUid));
    }

    /** Returns the folder that is the experiment of the study with this folder name. */
    public static Path tree(Path spool, String folder) {
        return ItemFolder.tree(spool.resolve(folder));
    }

    /**
     * Downloads what is not here yet, and compares what Orthanc lists with what is here.
     *
     * @throws DeliveryException if Orthanc cannot be reached or rejects the login, or the spool cannot be read or
     * written; what has arrived by then is kept
     */
    public Reconciliation deliver(String studyUid) throws IOException, InterruptedException {
        String shown = Uid.shown(studyUid);
        ListedStudy told;
        try {
            told = ListedStudy.of(orthanc, studyUid);
        } catch (DeliveryException e) {
            if (Orthanc.endsAll(e.trouble())) {
                throw e;
            }
            return Reconciliation.unread(shown, "study " + shown, List.of(Item.of("study " + shown, shown, e)));
        }
        Path home = spool.resolve(folder(studyUid));
        Files.createDirectories(spool);
        if (!Files.isDirectory(home, LinkOption.NOFOLLOW_LINKS)) {
            Files.createDirectory(
                    home, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        }
        try (ItemFolder folder = ItemFolder.open(home, Note.FORM)) {
            ItemFolder.Came came = folder.bring(told.instances(), atOnce, new Bringing(folder, told));
            int count = told.instances().size();
            List<Item> missing = new ArrayList<>(came.missing());
            told.counted().ifPresent(missing::add);
            return new Reconciliation(
                    shown,
                    "study " + shown,
                    count,
                    count - came.missing().size(),
                    told.bytes(),
                    came.bytesFetched(),
                    missing,
                    remarks(told, folder.delivered()));
        }
    }

    private static List<Item> remarks(ListedStudy told, Delivered delivered) {
        String study = Uid.shown(told.studyUid());
        List<Item> remarks = new ArrayList<>();
        Set<String> named = delivered.places().stream()
                .map(place -> Note.of(place).patient())
                .filter(patient -> !patient.equals(Note.NO_PATIENT))
                .collect(Collectors.toSet());
        int patients = Math.max(named.size(), told.parts());
        if (patients > 1) {
            remarks.add(new Item(
                    "study " + study,
                    study,
                    Trouble.TWO_PATIENTS,
                    "contains instances of %d patients; all are kept".formatted(patients)));
        }
        for (Delivered.Entry place : delivered.places()) {
            Note.of(place)
                    .conflict()
                    .ifPresent(conflict -> remarks.add(new Item(
                            place.path().toString(),
                            study,
                            conflict,
                            "same UID as another instance with different %s; both are kept"
                                    .formatted(conflict == Trouble.OTHER_PIXELS ? "pixels" : "values in its header"))));
        }
        for (Instance instance : told.instances()) {
            if (!instance.hasPlainUids()) {
                remarks.add(instance.item(Trouble.ILLEGAL_UID, "invalid UID; a code is used in its place"));
            }
        }
        for (Delivered.Entry place : delivered.besides(told.instances())) {
            remarks.add(new Item(
                    place.path().toString(),
                    study,
                    Trouble.NOT_TOLD,
                    "Orthanc no longer lists this instance; the local file is kept"));
        }
        return remarks;
    }

    /**
     * The note on an instance in the record of delivered files.
     *
     * @param patient its code
     * @param kind {@code FIRST} for the first instance with its UID, else its conflict with the first
     */
    private record Note(String content, String patient, String kind) {

        static final String FORM = "[0-9a-f]{64} (?:S[0-9A-V]{16}|-) (?:FIRST|OTHER_PIXELS|OTHER_HEADER)";
        static final String NO_PATIENT = "-";
        static final String FIRST = "FIRST";

        static Note of(Delivered.Entry place) {
            String[] words = place.note().split(" ", 3);
            return new Note(words[0], words[1], words[2]);
        }

        Optional<Trouble> conflict() {
            return kind.equals(FIRST) ? Optional.empty() : Optional.of(Trouble.valueOf(kind));
        }

        @Override
        public String toString() {
            return "%s %s %s".formatted(content, patient, kind);
        }
    }

    private final class Bringing implements Fetching<Instance> {

        private final ItemFolder folder;
        private final Map<String, Integer> holders = new HashMap<>();

        Bringing(ItemFolder folder, ListedStudy told) {
            this.folder = folder;
            told.instances().forEach(instance -> holders.merge(instance.sopUid(), 1, Integer::sum));
        }

        @Override
        public Arrived fetch(Instance instance, Part part) throws IOException, InterruptedException {
            boolean alone = holders.getOrDefault(instance.sopUid(), 0) == 1;
            Download.Came came = new Download(orthanc, instance, alone, part).come();
            return () -> name(came, part);
        }

        /** Gives an instance a final name that no other content has. */
        private Delivered.Entry name(Download.Came came, Part part) throws IOException {
            Instance instance = came.instance();
            FilePath path = SpoolName.of(instance);
            String kind = Note.FIRST;
            if (isOther(path, came.content())) {
                kind = (hasSamePixels(folder.at(path), part.path()) ? Trouble.OTHER_HEADER : Trouble.OTHER_PIXELS)
                        .name();
                path = SpoolName.twin(instance, came.content());
            }
            if (isOther(path, came.content())) {
                throw new IOException("path is already used by another file: " + path);
            }
            if (exists(path)) {
                part.discard();
            } else {
                folder.name(part, path);
            }
            String patient =
                    came.header().text(Tag.PATIENT_ID).flatMap(codes::of).orElse(Note.NO_PATIENT);
            String note = new Note(came.content().toString(), patient, kind).toString();
            return new Delivered.Entry(instance.id(), instance.mark(), instance.sizeBytes(), note, path);
        }

        private boolean exists(FilePath path) {
            return Files.exists(folder.at(path), LinkOption.NOFOLLOW_LINKS);
        }

        private boolean isOther(FilePath path, Digest content) throws IOException {
            if (!exists(path)) {
                return false;
            }
            Path file = folder.at(path);
            Delivered.Entry known = folder.delivered().at(path).orElse(null);
            if (known != null && known.sizeBytes() == Files.size(file)) {
                return !Note.of(known).content().equals(content.toString());
            }
            return !Digest.of(Part.digest(file, Digest.algorithm()).digest()).equals(content);
        }

        @Override
        public boolean endsAll(Trouble trouble) {
            return Orthanc.endsAll(trouble);
        }
    }

    /** NB: returns false if there are no pixels or they cannot be found. */
    private static boolean hasSamePixels(Path one, Path other) throws IOException {
        HeaderReader reader = new HeaderReader();
        Optional<Digest> pixels = reader.pixels(one);
        return pixels.isPresent() && pixels.equals(reader.pixels(other));
    }
}
