package dozo.source.flywheel;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;

/**
 * The content of an emulated Flywheel. It follows from a few numbers and is generated on request, so that 20,000
 * sessions cost nothing; changes by a test are kept separately. Two sessions share a subject; every tenth session has
 * an analysis with a file, every fifth a file of its own.
 */
public final class Hierarchy {

    /** The levels, with their digit in ids. NB: ids grow with creation within a level. */
    public enum Kind {
        GROUP,
        PROJECT,
        SUBJECT,
        SESSION,
        ACQUISITION,
        ANALYSIS,
        FILE;

        String plural() {
            return this == ANALYSIS ? "analyses" : name().toLowerCase(Locale.ROOT) + "s";
        }
    }

    /** Where a file is: the session, acquisition or analysis, and its number in that container. */
    public record Place(Kind kind, int container, int number) {}

    public static final Instant BEGINNING = Instant.parse("2026-01-05T09:00:00Z");

    private static final DateTimeFormatter WRITTEN =
            DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSSSSSxxx").withZone(ZoneOffset.UTC);

    private static final int SESSIONS_PER_ANALYSIS = 10;
    private static final int SESSIONS_PER_OWN_FILE = 5;
    private static final int ANALYSIS_FILE_BASE = 500_000_000;
    private static final int SESSION_FILE_BASE = 700_000_000;

    private final long seed;
    final int projects;
    final int sessions;
    final int acquisitionsPerSession;
    final int filesPerAcquisition;
    private final int fileBytes;
    private final Map<String, Map<String, Object>> changed = new ConcurrentHashMap<>();
    private final Map<String, Boolean> removed = new ConcurrentHashMap<>();
    private final Map<String, byte[]> contents = new ConcurrentHashMap<>();
    private final Map<String, String> hashes = new ConcurrentHashMap<>();

    /** Creates a hierarchy; each file has {@code fileBytes} bytes and a few more, depending on its number. */
    public Hierarchy(
            long seed, int projects, int sessions, int acquisitionsPerSession, int filesPerAcquisition, int fileBytes) {
        this.seed = seed;
        this.projects = projects;
        this.sessions = sessions;
        this.acquisitionsPerSession = acquisitionsPerSession;
        this.filesPerAcquisition = filesPerAcquisition;
        this.fileBytes = fileBytes;
    }

    public static Hierarchy small() {
        return new Hierarchy(1, 2, 8, 2, 2, 2_000);
    }

    /** Returns an id: 24 hexadecimal digits, for a group a readable name. */
    public static String id(Kind kind, int index) {
        HexFormat hex = HexFormat.of();
        return kind == Kind.GROUP
                ? "group" + index
                : "65" + hex.toHexDigits(kind.ordinal(), 6) + hex.toHexDigits(index) + hex.toHexDigits(index);
    }

    public static String session(int index) {
        return id(Kind.SESSION, index);
    }

    public static String acquisition(int index) {
        return id(Kind.ACQUISITION, index);
    }

    /** Returns the file's {@code file_id}. */
    public String file(int acquisition, int number) {
        return id(Kind.FILE, acquisition * filesPerAcquisition + number);
    }

    /** Returns all objects of a kind, ordered by id. */
    IntStream all(Kind kind) {
        return switch (kind) {
            case GROUP -> IntStream.range(0, 1);
            case PROJECT -> IntStream.range(0, projects);
            case SUBJECT -> IntStream.range(0, (sessions + 1) / 2);
            case SESSION -> IntStream.range(0, sessions);
            case ACQUISITION -> IntStream.range(0, sessions * acquisitionsPerSession);
            case ANALYSIS -> IntStream.range(0, (sessions + SESSIONS_PER_ANALYSIS - 1) / SESSIONS_PER_ANALYSIS);
            case FILE ->
                IntStream.concat(
                        IntStream.concat(
                                IntStream.range(0, sessions * acquisitionsPerSession * filesPerAcquisition),
                                all(Kind.ANALYSIS).map(i -> ANALYSIS_FILE_BASE + i)),
                        IntStream.range(0, (sessions + SESSIONS_PER_OWN_FILE - 1) / SESSIONS_PER_OWN_FILE)
                                .map(i -> SESSION_FILE_BASE + i));
        };
    }

    private boolean exists(Kind kind, int index) {
        if (kind == Kind.FILE) {
            Place place = place(index);
            return exists(place.kind(), place.container())
                    && files(place.kind(), place.container()).contains(index);
        }
        return index >= 0 && index < all(kind).count();
    }

    IntStream within(Kind above, int index, Kind kind) {
        return switch (kind) {
            case PROJECT -> above == Kind.GROUP ? all(kind) : IntStream.empty();
            case SUBJECT, SESSION -> all(kind).filter(i -> above(kind, i, above) == index);
            case ACQUISITION ->
                above == Kind.SESSION
                        ? IntStream.range(index * acquisitionsPerSession, (index + 1) * acquisitionsPerSession)
                        : IntStream.empty();
            case ANALYSIS ->
                above == Kind.SESSION && index % SESSIONS_PER_ANALYSIS == 0
                        ? IntStream.of(index / SESSIONS_PER_ANALYSIS)
                        : IntStream.empty();
            case GROUP, FILE -> IntStream.empty();
        };
    }

    /** Returns the container of a higher kind that contains another one. */
    int above(Kind kind, int index, Kind above) {
        int session = switch (kind) {
            case ACQUISITION -> index / acquisitionsPerSession;
            case ANALYSIS -> index * SESSIONS_PER_ANALYSIS;
            case SESSION -> index;
            case SUBJECT -> index * 2;
            case PROJECT -> index * (sessionsPerProject());
            case GROUP, FILE -> 0;
        };
        return switch (above) {
            case GROUP -> 0;
            case PROJECT -> kind == Kind.PROJECT ? index : session / sessionsPerProject();
            case SUBJECT -> session / 2;
            case SESSION -> session;
            case ACQUISITION, ANALYSIS, FILE -> index;
        };
    }

    /** Returns an even number, so that both sessions of a subject are in one project. */
    private int sessionsPerProject() {
        int share = (sessions + projects - 1) / projects;
        return share + share % 2;
    }

    /** Returns the object with an id, if there is one. */
    Optional<Map<String, Object>> find(String id) {
        return kind(id).flatMap(kind -> index(id, kind).stream()
                .boxed()
                .findFirst()
                .filter(i -> !removed.containsKey(id))
                .map(i -> kind == Kind.FILE ? fileEntry(i) : container(kind, i)));
    }

    Optional<Kind> kind(String id) {
        if (id.startsWith("group")) {
            return Optional.of(Kind.GROUP);
        }
        if (!id.matches("65[0-9a-f]{22}")) {
            return Optional.empty();
        }
        int digit = Integer.parseInt(id.substring(2, 8), 16);
        return digit < Kind.values().length ? Optional.of(Kind.values()[digit]) : Optional.empty();
    }

    OptionalInt index(String id, Kind kind) {
        int index = kind == Kind.GROUP ? Integer.parseInt(id.substring(5)) : Integer.parseInt(id.substring(8, 16), 16);
        return id.equals(id(kind, index)) && exists(kind, index) ? OptionalInt.of(index) : OptionalInt.empty();
    }

    boolean isRemoved(String id) {
        return removed.containsKey(id);
    }

    /** Returns a container as in a list, without its files. */
    Map<String, Object> container(Kind kind, int index) {
        String id = id(kind, index);
        Map<String, Object> told = new LinkedHashMap<>();
        told.put("_id", id);
        told.put("label", label(kind, index));
        told.put("container_type", kind.name().toLowerCase(Locale.ROOT));
        told.put("created", written(created(kind, index)));
        told.put("modified", written(created(kind, index)));
        told.put("revision", 1);
        told.put("info_exists", true);
        told.put("tags", List.of());
        told.put("notes", List.of());
        Map<String, Object> parents = parents(kind, index);
        if (kind != Kind.GROUP) {
            told.put("parents", parents);
        }
        switch (kind) {
            case PROJECT -> told.put("group", "group0");
            case SUBJECT -> {
                told.put("project", parents.get("project"));
                told.put("code", label(kind, index));
                told.put("firstname", "Given");
                told.put("lastname", "Family");
            }
            case SESSION -> {
                told.put("project", parents.get("project"));
                told.put("group", "group0");
                told.put(
                        "subject",
                        Map.of(
                                "_id",
                                parents.get("subject"),
                                "label",
                                label(Kind.SUBJECT, above(kind, index, Kind.SUBJECT))));
                told.put("timestamp", written(created(kind, index)));
            }
            case ACQUISITION -> {
                told.put("session", parents.get("session"));
                told.put("timestamp", written(created(kind, index)));
            }
            case ANALYSIS -> told.put("parent", Map.of("type", "session", "id", parents.get("session")));
            case GROUP, FILE -> {}
        }
        told.putAll(changed.getOrDefault(id, Map.of()));
        return told;
    }

    private static String label(Kind kind, int index) {
        return switch (kind) {
            case GROUP -> "Group " + index;
            case PROJECT -> "Study " + index;
            case SUBJECT -> "sub-" + padded(index);
            case SESSION -> "ses-" + padded(index);
            case ACQUISITION -> "run-" + index;
            case ANALYSIS -> "fit-" + index;
            case FILE -> "";
        };
    }

    private static String padded(int index) {
        String digits = String.valueOf(index);
        return "0".repeat(Math.max(0, 5 - digits.length())) + digits;
    }

    private static Instant created(Kind kind, int index) {
        return BEGINNING.plusSeconds(kind == Kind.FILE ? 0 : index);
    }

    private Map<String, Object> parents(Kind kind, int index) {
        Map<String, Object> parents = new LinkedHashMap<>();
        for (Kind above : List.of(Kind.GROUP, Kind.PROJECT, Kind.SUBJECT, Kind.SESSION)) {
            boolean isAbove = above.ordinal() < kind.ordinal();
            if (isAbove) {
                parents.put(above.name().toLowerCase(Locale.ROOT), id(above, above(kind, index, above)));
            }
        }
        return parents;
    }

    /** Returns the indexes of the files in a container, ordered by name. */
    List<Integer> files(Kind kind, int container) {
        return switch (kind) {
            case ACQUISITION ->
                IntStream.range(container * filesPerAcquisition, (container + 1) * filesPerAcquisition)
                        .boxed()
                        .toList();
            case ANALYSIS -> List.of(ANALYSIS_FILE_BASE + container);
            case SESSION ->
                container % SESSIONS_PER_OWN_FILE == 0
                        ? List.of(SESSION_FILE_BASE + container / SESSIONS_PER_OWN_FILE)
                        : List.of();
            case GROUP, PROJECT, SUBJECT, FILE -> List.of();
        };
    }

    List<Map<String, Object>> fileEntries(Kind kind, int container) {
        return files(kind, container).stream()
                .filter(i -> !removed.containsKey(id(Kind.FILE, i)))
                .map(this::fileEntry)
                .toList();
    }

    Place place(int file) {
        if (file >= SESSION_FILE_BASE) {
            return new Place(Kind.SESSION, (file - SESSION_FILE_BASE) * SESSIONS_PER_OWN_FILE, 0);
        }
        if (file >= ANALYSIS_FILE_BASE) {
            return new Place(Kind.ANALYSIS, file - ANALYSIS_FILE_BASE, 0);
        }
        return new Place(Kind.ACQUISITION, file / filesPerAcquisition, file % filesPerAcquisition);
    }

    Map<String, Object> fileEntry(int index) {
        String id = id(Kind.FILE, index);
        byte[] bytes = content(index);
        Map<String, Object> told = fileFacts(index);
        told.put("size", bytes.length);
        told.put("hash", hashes.computeIfAbsent(id, key -> hash(bytes)));
        told.putAll(changed.getOrDefault(id, Map.of()));
        return told;
    }

    /** Returns all facts that do not require the file's bytes. */
    Map<String, Object> fileFacts(int index) {
        String id = id(Kind.FILE, index);
        Place place = place(index);
        Map<String, Object> told = new LinkedHashMap<>();
        told.put("_id", "00000000-0000-4000-8000-0000" + HexFormat.of().toHexDigits(index));
        told.put("file_id", id);
        told.put("name", name(place));
        told.put("type", "dicom");
        told.put("modality", "MR");
        told.put("mimetype", "application/zip");
        told.put("version", 1);
        told.put("created", written(created(place.kind(), place.container())));
        told.put("modified", written(created(place.kind(), place.container())));
        told.put("origin", Map.of("type", "user", "id", "scanner@example.org"));
        Map<String, Object> parents = parents(place.kind(), place.container());
        String kind = place.kind().name().toLowerCase(Locale.ROOT);
        parents.put(kind, id(place.kind(), place.container()));
        told.put("parents", parents);
        told.put("parent_ref", Map.of("type", kind, "id", id(place.kind(), place.container())));
        told.putAll(changed.getOrDefault(id, Map.of()));
        return told;
    }

    private static String name(Place place) {
        return switch (place.kind()) {
            case SESSION -> "protocol.pdf";
            case ANALYSIS -> "fit.nii.gz";
            case GROUP, PROJECT, SUBJECT, ACQUISITION, FILE ->
                place.container() + "_" + place.number() + "_scan.dicom.zip";
        };
    }

    /** Returns the file's bytes: random, but the same every time. */
    public byte[] content(int file) {
        byte[] set = contents.get(id(Kind.FILE, file));
        if (set != null) {
            return set;
        }
        byte[] bytes = new byte[fileBytes + file % 97];
        new SplittableRandom(seed * 1_000_003 + file).nextBytes(bytes);
        if (fileBytes >= 1 << 20) {
            contents.put(id(Kind.FILE, file), bytes);
        }
        return bytes;
    }

    static String hash(byte[] bytes) {
        try {
            return "v0-sha384-"
                    + HexFormat.of()
                            .formatHex(MessageDigest.getInstance("SHA-384").digest(bytes));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    public static String written(Instant time) {
        return WRITTEN.format(time);
    }

    // --- what a test changes ---

    /** Overrides a generated value: a label, a hash, a size. */
    public Hierarchy tell(String id, String field, Object value) {
        changed.computeIfAbsent(id, key -> new ConcurrentHashMap<>()).put(field, value);
        return this;
    }

    public Hierarchy remove(String id) {
        removed.put(id, true);
        return this;
    }

    /** Adds a new version of a file at a time. */
    public Hierarchy replace(String file, String content, Instant at) {
        byte[] bytes = content.getBytes(StandardCharsets.UTF_8);
        contents.put(file, bytes);
        hashes.remove(file);
        Object version = find(file).orElseThrow().get("version");
        tell(file, "version", 1 + (Integer) version);
        return tell(file, "modified", written(at));
    }

    /** Flips a bit of a file's bytes; all that is told of it stays, its hash too. A second call flips it back. */
    public Hierarchy rot(String file) {
        Object hash = find(file).orElseThrow().get("hash");
        byte[] bytes = content(index(file, Kind.FILE).orElseThrow()).clone();
        bytes[bytes.length / 3] ^= 4;
        contents.put(file, bytes);
        return tell(file, "hash", hash);
    }

    List<String> labelsToRoot(String acquisition) {
        int index = index(acquisition, Kind.ACQUISITION).orElseThrow();
        List<String> labels = new ArrayList<>(List.of("group0"));
        for (Kind kind : Arrays.asList(Kind.PROJECT, Kind.SUBJECT, Kind.SESSION, Kind.ACQUISITION)) {
            Object label = container(kind, kind == Kind.ACQUISITION ? index : above(Kind.ACQUISITION, index, kind))
                    .get("label");
            labels.add(String.valueOf(label));
        }
        return labels;
    }
}
