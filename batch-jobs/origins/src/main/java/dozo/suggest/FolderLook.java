package dozo.suggest;

import dozo.file.FilePath;
import dozo.source.Glimpse;
import dozo.source.OpenFile;
import dozo.source.dicom.HeaderReader;
import dozo.source.dicom.PseudonymousCode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.ZoneId;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A look into a folder. It reads some files of each subfolder first, then as many others as time allows, and only their
 * beginnings. No link is followed; only regular files are opened. To be used once, by one thread.
 */
final class FolderLook {

    /** The limits of a look; the result says if they were reached. */
    record Limits(int names, int namesOfFolder, int folders, int headers, Duration time) {

        static final Limits USUAL = new Limits(50_000, 5_000, 2_000, 5_000, Duration.ofSeconds(5));

        /** Returns the same limits with at most this time. */
        Limits within(Duration most) {
            return time.compareTo(most) <= 0 ? this : new Limits(names, namesOfFolder, folders, headers, most);
        }
    }

    /** How many files of each folder are read before the remaining files of any folder. */
    private static final int FIRST_OF_FOLDER = 20;

    private static final String MEG = "MEG";
    private static final int SIDECAR_BYTES_MAX = 256 * 1024;
    private static final JsonMapper JSON = JsonMapper.builder().build();

    private final Path root;
    private final Path top;
    private final Limits limits;
    private final long began = System.nanoTime();
    private final HeaderReader reader = new HeaderReader();
    private final Witness witness;
    private final ZoneId zone;
    private final Deque<FilePath> folders = new ArrayDeque<>(List.of(FilePath.ROOT));
    private final Deque<FilePath> later = new ArrayDeque<>();
    private int names;
    private int foldersSeen;
    private int filesSeen;
    private int filesRead;
    private int unreadable;
    private boolean cut;

    /**
     * Creates a look.
     *
     * @param root absolute, without links
     * @param top the root or a folder above it: nothing above this one is read
     * @param zone used to turn a point in time in a file into a day
     */
    FolderLook(Path root, Path top, Limits limits, PseudonymousCode codes, ZoneId zone) {
        this.root = root;
        this.top = top;
        this.limits = limits;
        this.witness = new Witness(codes);
        this.zone = zone;
    }

    /** @throws IOException if the folder itself cannot be read */
    FolderFacts look() throws IOException {
        see(folders.removeFirst());
        witness.dataset(Bids.of(root, top));
        while (!folders.isEmpty() && mayGoOn()) {
            FilePath folder = folders.removeFirst();
            try {
                see(folder);
            } catch (IOException goneOrNotToBeSeen) {
                unreadable++;
            }
        }
        while (!later.isEmpty() && mayGoOn()) {
            read(later.removeFirst());
        }
        boolean whole = !cut && folders.isEmpty() && later.isEmpty();
        return witness.evidence(filesSeen, filesRead, unreadable, whole);
    }

    private boolean mayGoOn() {
        return names < limits.names
                && foldersSeen < limits.folders
                && filesRead < limits.headers
                && System.nanoTime() - began < limits.time.toNanos()
                && !Thread.currentThread().isInterrupted();
    }

    private void see(FilePath folder) throws IOException {
        Glimpse glimpse = Glimpse.of(root, folder, Math.min(limits.namesOfFolder, limits.names - names));
        foldersSeen++;
        names += glimpse.files().size() + glimpse.folders().size();
        filesSeen += glimpse.files().size();
        cut |= !glimpse.whole();
        if (isBti(glimpse.files())) {
            witness.modality(MEG);
        }
        glimpse.folders().forEach(name -> folders.addLast(folder.resolve(name)));
        List<FilePath> files = new ArrayList<>();
        glimpse.files().stream()
                .map(folder::resolve)
                .filter(FolderLook::mayTell)
                .forEach(files::add);
        // Spread over the folder, because neighbouring files are usually of the same series.
        int step = Math.max(1, files.size() / FIRST_OF_FOLDER);
        for (int i = 0; i < files.size(); i++) {
            if (i % step == 0 && i / step < FIRST_OF_FOLDER && mayGoOn()) {
                read(files.get(i));
            } else {
                later.addLast(files.get(i));
            }
        }
    }

    /** Returns whether a file with this name could contain facts; excludes only names that are known not to. */
    private static boolean mayTell(FilePath file) {
        String name = lower(file.name());
        return isTable(name)
                || List.of(".nii", ".gz", ".zip", ".tar", ".rec", ".bval", ".bvec", ".tsv", ".csv", ".txt", ".eeg")
                        .stream()
                        .noneMatch(name::endsWith);
    }

    /** Returns whether this is the name of a table of BIDS with times. */
    private static boolean isTable(String name) {
        return name.endsWith("_scans.tsv") || name.endsWith("_sessions.tsv");
    }

    private void read(FilePath path) {
        filesRead++;
        String name = lower(path.name());
        try (OpenFile file = OpenFile.open(root, path)) {
            if (isTable(name)) {
                witness.days(Bids.days(file));
            } else if (name.endsWith(".json")) {
                readSidecar(name, file);
            } else if (!hearRecording(name, file) && !witness.hear(reader.read(file))) {
                hearName(path, name);
            }
        } catch (IOException goneOrNotToBeRead) {
            unreadable++;
        }
    }

    private boolean hearRecording(String name, OpenFile file) throws IOException {
        Recording recording = Recording.of(name, file, zone).orElse(null);
        if (recording == null) {
            return false;
        }
        witness.modality(MEG);
        if (recording.day() != null) {
            witness.day(recording.day());
        }
        return true;
    }

    private void readSidecar(String name, OpenFile file) throws IOException {
        if (file.factsWhenOpened().sizeBytes() > SIDECAR_BYTES_MAX) {
            return;
        }
        hearName(FilePath.ROOT, name);
        try {
            JsonNode sidecar = JSON.readTree(file.stream().readNBytes(SIDECAR_BYTES_MAX));
            if (sidecar != null && sidecar.isObject()) {
                witness.hear(sidecar);
            }
        } catch (JacksonException noJson) {
            // Not JSON: the file contributes no facts.
        }
    }

    /** Recognises recordings by name: CTF's folders, KIT, BrainVision, and BIDS names. */
    private void hearName(FilePath path, String name) {
        if (name.endsWith("_meg.json")
                || name.endsWith(".sqd")
                || (name.endsWith(".res4") && !path.isRoot() && isCtf(path.parent()))) {
            witness.modality(MEG);
        } else if (name.endsWith("_eeg.json") || name.endsWith(".vhdr")) {
            witness.modality("EEG");
        }
    }

    private boolean isCtf(FilePath folder) {
        return lower(folder.isRoot() ? FilePath.rawBytes(root) : folder.name()).endsWith(".ds");
    }

    /** Returns whether these are the names in a folder of a BTi or 4D system: data, and the system's configuration. */
    private static boolean isBti(List<byte[]> names) {
        return names.stream().anyMatch(name -> lower(name).equals("config"))
                && names.stream().anyMatch(name -> Recording.isBtiName(lower(name)));
    }

    private static String lower(byte[] name) {
        return new String(name, StandardCharsets.ISO_8859_1).toLowerCase(Locale.ROOT);
    }
}
