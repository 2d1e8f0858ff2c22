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
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The content of an emulated Flywheel. It follows from a few numbers and is generated on request, so that 20,000
 * sessions cost nothing; changes by a test are kept separately. Two sessions share a subject; every tenth session has
 * an analysis with a file, every fifth a file of its own; a test adds files and analyses to other containers.
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

    /** What a test has added, by the container that it is in. */
    private record Added(Kind kind, int container) {}

    public static final Instant BEGINNING = Instant.parse("2026-01-05T09:00:00Z");

    private static final DateTimeFormatter WRITTEN =
            DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSSSSSxxx").withZone(ZoneOffset.UTC);

    private static final int SESSIONS_PER_ANALYSIS = 10;
    private static final int SESSIONS_PER_OWN_FILE = 5;
    private static final int ANALYSIS_FILE_BASE = 500_000_000;
    private static final int SESSION_FILE_BASE = 700_000_000;
    private static final int ADDED_FILE_BASE = 900_000_000;
    private static final int ADDED_ANALYSIS_BASE = 1_000_000;

    private final long seed;
    final int projects;
    final int sessions;
    final int acquisitionsPerSession;
    final int filesPerAcquisition;
    private final int fileBytes;
    private final Map<String, Map<String, Object>> changed = new ConcurrentHashMap<>();
    private final Map<String, Boolean> removed = new ConcurrentHashMap<>();
    private final List<Added> addedFiles = new CopyOnWriteArrayList<>();
    private final List<Added> addedAnalyses = new CopyOnWriteArrayList<>();
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
            case ANALYSIS ->
                IntStream.concat(
                        IntStream.range(0, analyses()),
                        IntStream.range(0, addedAnalyses.size()).map(i -> ADDED_ANALYSIS_BASE + i));
            case FILE ->
                IntStream.concat(
                        IntStream.concat(
                                IntStream.range(0, sessions * acquisitionsPerSession * filesPerAcquisition),
                                IntStream.range(0, analyses()).map(i -> ANALYSIS_FILE_BASE + i)),
                        IntStream.concat(
                                IntStream.range(0, (sessions + SESSIONS_PER_OWN_FILE - 1) / SESSIONS_PER_OWN_FILE)
                                        .map(i -> SESSION_FILE_BASE + i),
                                IntStream.range(0, addedFiles.size()).map(i -> ADDED_FILE_BASE + i)));
        };
    }

    private int analyses() {
        return (sessions + SESSIONS_PER_ANALYSIS - 1) / SESSIONS_PER_ANALYSIS;
    }

    private boolean exists(Kind kind, int index) {
        if (kind == Kind.FILE) {
            Place place = place(index);
            return exists(place.kind(), place.container())
                    && files(place.kind(), place.container()).contains(index);
        }
        if (index >= ADDED_ANALYSIS_BASE) {
            return kind == Kind.ANALYSIS && index - ADDED_ANALYSIS_BASE < addedAnalyses.size();
        }
        return index >= 0
                && index < (kind == Kind.ANALYSIS ? analyses() : all(kind).count());
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
                IntStream.concat(
                        above == Kind.SESSION && index % SESSIONS_PER_ANALYSIS == 0
                                ? IntStream.of(index / SESSIONS_PER_ANALYSIS)
                                : IntStream.empty(),
                        IntStream.range(0, addedAnalyses.size())
                                .filter(i -> addedAnalyses.get(i).equals(new Added(above, index)))
                                .map(i -> ADDED_ANALYSIS_BASE + i));
            case GROUP, FILE -> IntStream.empty();
        };
    }

    /** Returns the container of a higher kind that contains another one. */
    int above(Kind kind, int index, Kind above) {
        if (kind == above) {
            return index;
        }
        if (kind == Kind.ANALYSIS) {
            Added in = parent(index);
            return above(in.kind(), in.container(), above);
        }
        int session = switch (kind) {
            case ACQUISITION -> index / acquisitionsPerSession;
            case SESSION -> index;
            case SUBJECT -> index * 2;
            case PROJECT -> index * (sessionsPerProject());
            case GROUP, ANALYSIS, FILE -> 0;
        };
        return switch (above) {
            case GROUP -> 0;
            case PROJECT -> kind == Kind.PROJECT ? index : session / sessionsPerProject();
            case SUBJECT -> session / 2;
            case SESSION -> session;
            case ACQUISITION, ANALYSIS, FILE -> index;
        };
    }

    /** Returns what an analysis belongs to. */
    private Added parent(int analysis) {
        return analysis >= ADDED_ANALYSIS_BASE
                ? addedAnalyses.get(analysis - ADDED_ANALYSIS_BASE)
                : new Added(Kind.SESSION, analysis * SESSIONS_PER_ANALYSIS);
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

    /**
     * Returns a container as requested by its id: only then {@code info} is returned (lists leave it out without
     * {@code include_all_info}: Flywheel's Python client 23.0.0).
     */
    Map<String, Object> whole(Kind kind, int index) {
        Map<String, Object> told = container(kind, index);
        told.put("info", info(kind, index));
        told.put("files", fileEntries(kind, index));
        return told;
    }

    private Object info(Kind kind, int index) {
        return changed.getOrDefault(id(kind, index), Map.of()).getOrDefault("info", Map.of("number", index));
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
        told.put("tags", List.of());
        told.put("notes", List.of());
        Map<String, Object> parents = parents(kind, index);
        if (kind != Kind.GROUP) {
            told.put("parents", parents);
        }
        switch (kind) {
            // permissions: models RolesRolePermission and AccessPermissionOutput of Flywheel's Python client 23.0.0
            case PROJECT -> {
                told.put("group", "group0");
                told.put("permissions", List.of(Map.of("_id", "reader@example.org", "role_ids", List.of())));
            }
            case SUBJECT -> {
                told.put("project", parents.get("project"));
                told.put("code", label(kind, index));
                told.put("firstname", "Given");
                told.put("lastname", "Family");
                told.put("date_of_birth", "1990-01-01T00:00:00+00:00");
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
            // inputs are file entries: model AnalysisOutput of the same client
            case ANALYSIS -> {
                Added in = parent(index);
                told.put("parent", Map.of("type", word(in.kind()), "id", id(in.kind(), in.container())));
                told.put("description", "of " + label(kind, index));
                told.put("inputs", List.of());
            }
            case GROUP -> told.put("permissions", List.of(Map.of("_id", "reader@example.org", "access", "ro")));
            case FILE -> {}
        }
        told.putAll(changed.getOrDefault(id, Map.of()));
        told.remove("info");
        told.putIfAbsent("info_exists", !Map.of().equals(info(kind, index)));
        return told;
    }

    private static String word(Kind kind) {
        return kind.name().toLowerCase(Locale.ROOT);
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
        if (kind == Kind.ANALYSIS) {
            Added in = parent(index);
            Map<String, Object> parents = parents(in.kind(), in.container());
            parents.put(word(in.kind()), id(in.kind(), in.container()));
            return parents;
        }
        Map<String, Object> parents = new LinkedHashMap<>();
        for (Kind above : List.of(Kind.GROUP, Kind.PROJECT, Kind.SUBJECT, Kind.SESSION)) {
            boolean isAbove = above.ordinal() < kind.ordinal();
            if (isAbove) {
                parents.put(word(above), id(above, above(kind, index, above)));
            }
        }
        return parents;
    }

    /** Returns the indexes of the files in a container, ordered by name. */
    List<Integer> files(Kind kind, int container) {
        return Stream.concat(
                        madeFiles(kind, container).stream(),
                        IntStream.range(0, addedFiles.size())
                                .filter(i -> addedFiles.get(i).equals(new Added(kind, container)))
                                .mapToObj(i -> ADDED_FILE_BASE + i))
                .toList();
    }

    private List<Integer> madeFiles(Kind kind, int container) {
        return switch (kind) {
            case ACQUISITION ->
                IntStream.range(container * filesPerAcquisition, (container + 1) * filesPerAcquisition)
                        .boxed()
                        .toList();
            case ANALYSIS -> container < ADDED_ANALYSIS_BASE ? List.of(ANALYSIS_FILE_BASE + container) : List.of();
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
        if (file >= ADDED_FILE_BASE) {
            Added in = addedFiles.get(file - ADDED_FILE_BASE);
            return new Place(in.kind(), in.container(), file - ADDED_FILE_BASE);
        }
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
        told.put("tags", List.of());
        told.put("classification", Map.of("Intent", List.of("Structural")));
        told.put("created", written(created(place.kind(), place.container())));
        told.put("modified", written(created(place.kind(), place.container())));
        told.put("origin", Map.of("type", "user", "id", "scanner@example.org"));
        Map<String, Object> parents = parents(place.kind(), place.container());
        String kind = word(place.kind());
        parents.put(kind, id(place.kind(), place.container()));
        told.put("parents", parents);
        told.put("parent_ref", Map.of("type", kind, "id", id(place.kind(), place.container())));
        told.putAll(changed.getOrDefault(id, Map.of()));
        told.putIfAbsent("info_exists", told.containsKey("info"));
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

    /** Adds an analysis without files to any container; returns its id. */
    public String addAnalysis(String container) {
        Kind kind = kind(container).orElseThrow();
        addedAnalyses.add(new Added(kind, index(container, kind).orElseThrow()));
        return id(Kind.ANALYSIS, ADDED_ANALYSIS_BASE + addedAnalyses.size() - 1);
    }

    /** Adds a file to any container; returns its {@code file_id}. */
    public String addFile(String container, String name, String content) {
        Kind kind = kind(container).orElseThrow();
        String id = id(Kind.FILE, ADDED_FILE_BASE + addedFiles.size());
        contents.put(id, content.getBytes(StandardCharsets.UTF_8));
        tell(id, "name", name);
        addedFiles.add(new Added(kind, index(container, kind).orElseThrow()));
        return id;
    }

    public Hierarchy remove(String id) {
        removed.put(id, true);
        return this;
    }

    /** Undoes {@link #remove}. */
    public Hierarchy restore(String id) {
        removed.remove(id);
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
