package dozo.source.dicomweb;

import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.source.delivery.Delivered;
import dozo.source.delivery.DeliveryException;
import dozo.source.delivery.Item;
import dozo.source.delivery.ItemFolder;
import dozo.source.delivery.Recheck;
import dozo.source.delivery.Reconciliation;
import dozo.source.delivery.Reread;
import dozo.source.delivery.Trouble;
import dozo.source.dicom.PseudonymousCode;
import dozo.source.dicomweb.Downloads.Note;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A spool for studies, each in a folder named by {@link #folder}. Each instance is in {@code tree/SERIES/INSTANCE.dcm},
 * as Orthanc stores it; other content under the same UID is in {@code tree/SERIES/INSTANCE~DIGEST.dcm}. Nothing in a
 * tree is ever overwritten. Only our own user may read a study's folder.
 */
public final class Spool {

    private static final Pattern TWIN = Pattern.compile("(.+)~[0-9a-f]{16}\\.dcm");

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

    /** Returns the name of the folder of a study whose UID is {@linkplain Uid#shown shown} so. */
    public static String folderOfShown(String uid) {
        return Uid.isPlain(uid) ? folder(uid) : uid.substring(1);
    }

    /** Returns the place of an instance's first content, if this one may be that of another content; else the same. */
    public static FilePath firstPlace(FilePath path) {
        Matcher twin = TWIN.matcher(new String(path.name(), StandardCharsets.ISO_8859_1));
        return twin.matches()
                ? path.parent().resolve((twin.group(1) + ".dcm").getBytes(StandardCharsets.ISO_8859_1))
                : path;
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
            if (Orthanc.ENDS_ALL.contains(e.trouble())) {
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
            ItemFolder.Came came = folder.bring(
                    told.instances(), atOnce, Orthanc.ENDS_ALL, new Downloads(orthanc, codes, folder, told));
            return came.reconciled(
                    shown, "study " + shown, told.counted().stream().toList(), remarks(told, folder.delivered()));
        }
    }

    /**
     * Checks delivered instances of a study again in Orthanc. Where it can compare its file with an MD5 by itself, no content is
     * transferred; else the file is read, and not kept.
     *
     * @throws DeliveryException if the study cannot be listed, or Orthanc no longer answers
     */
    public Recheck.Result check(String studyUid, Recheck.Asked asked) throws IOException, InterruptedException {
        Recheck.Source<Instance> source = new Recheck.Source<>() {
            @Override
            public Recheck.Told<Instance> list() throws IOException, InterruptedException {
                ListedStudy told = ListedStudy.of(orthanc, studyUid);
                return new Recheck.Told<>(told.instances(), told.counted().isEmpty());
            }

            @Override
            public Reread read(Instance instance, Delivered.Entry place) throws IOException, InterruptedException {
                Note note = Note.of(place);
                Digest delivered = Digest.ofHex(note.content());
                StoredFile stored = orthanc.stored(instance);
                return stored.isOnDisk(note.md5())
                        ? new Reread(delivered, true, 0)
                        : stored.read(instance.sizeBytes(), delivered);
            }
        };
        return new Recheck<>(asked, Orthanc.ENDS_ALL, source).in(spool.resolve(folder(studyUid)), Note.FORM);
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
            String message = "contains instances of %d patients; all are kept".formatted(patients);
            remarks.add(new Item("study " + study, study, Trouble.TWO_PATIENTS, message));
        }
        for (Delivered.Entry place : delivered.places()) {
            Note.of(place).conflict().ifPresent(conflict -> {
                String other = conflict == Trouble.OTHER_PIXELS ? "pixels" : "values in its header";
                String message = "same UID as another instance with different %s; both are kept".formatted(other);
                remarks.add(new Item(place.path().toString(), study, conflict, message));
            });
        }
        for (Instance instance : told.instances()) {
            if (!instance.hasPlainUids()) {
                remarks.add(instance.item(Trouble.ILLEGAL_UID, "invalid UID; a code is used in its place"));
            }
        }
        for (Delivered.Entry place : delivered.besides(told.instances())) {
            String message = "Orthanc no longer lists this instance; the local file is kept";
            remarks.add(new Item(place.path().toString(), study, Trouble.NOT_TOLD, message));
        }
        return remarks;
    }
}
