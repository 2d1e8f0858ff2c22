package dozo.source.flywheel;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.db.Program;
import dozo.source.dicom.SharedData;
import dozo.source.flywheel.Hierarchy.Kind;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Flywheel's own Python client, from PyPI, accepts the emulator that the other tests use. */
class SdkIT {

    private static final String RELEASE = "23.0.0";
    private static final JsonMapper JSON = new JsonMapper();

    @Test
    void theOfficialClientAcceptsTheEmulator() throws Exception {
        Path check = SharedData.folder()
                .resolve("../../contracts/flywheel_sdk_check.py")
                .normalize();
        assertThat(check).isRegularFile();

        Program ended;
        try (Emulator emulator = new Emulator(Hierarchy.small())) {
            ended = Program.python(
                    "flywheel-sdk-" + RELEASE,
                    Map.of("FLYWHEEL_SDK_TOTAL_RETRIES", "0"),
                    "flywheel-sdk==" + RELEASE,
                    check.toString(),
                    emulator.key());
        }

        assertThat(ended.succeeded().lines().filter(line -> line.startsWith("ok   ")))
                .as(ended.output())
                .hasSize(30);
        assertThat(ended.output()).doesNotContain("FAIL").doesNotContain("skip");
    }

    @Test
    void theOfficialClientReadsTheMetadataThatAreSealed(@TempDir Path folder) throws Exception {
        Path script = folder.resolve("flywheel_metadata.py");
        try (InputStream in = SdkIT.class.getResourceAsStream("/flywheel_metadata.py")) {
            Files.copy(Objects.requireNonNull(in), script);
        }
        Hierarchy hierarchy = Hierarchy.small();
        String session = Hierarchy.session(0);
        String project = Hierarchy.id(Kind.PROJECT, 0);
        hierarchy
                .tell(session, "info", Map.of("BIDS", Map.of("Session", "01", "ok", true), "weight", 61.5))
                .tell(session, "tags", List.of("good", "検査済み"))
                .tell(session, "notes", List.of(Map.of("_id", "n1", "text", "slept", "user", "tech@example.org")))
                .tell(hierarchy.file(0, 0), "info", Map.of("EchoTime", List.of(1, 2.25)))
                .tell(hierarchy.file(0, 0), "tags", List.of("QC"));
        hierarchy.addFile(project, "plan.pdf", "plan");
        hierarchy.addFile(Hierarchy.id(Kind.SUBJECT, 0), "consent.pdf", "consent");
        for (String container : List.of(project, Hierarchy.id(Kind.SUBJECT, 1), session, Hierarchy.acquisition(1))) {
            hierarchy.addFile(hierarchy.addAnalysis(container), "out.txt", container);
        }
        try (Emulator emulator = new Emulator(hierarchy)) {
            Readers readers = new Readers(emulator);
            Spool spool = new Spool(readers.flywheel, folder, 2);
            assertThat(spool.deliver(session).isComplete()).isTrue();
            assertThat(spool.deliver(Level.PROJECT, project).isComplete()).isTrue();
            readers.flywheel.close();

            for (String item : List.of(session, project)) {
                ObjectNode sealed = sealed(spool.tree(item).resolve("flywheel.json"), item.equals(session));
                String[] arguments = Stream.concat(
                                Stream.of(script.toString(), emulator.key()),
                                sealed.properties().stream()
                                        .flatMap(each -> Stream.of(word(hierarchy, each.getKey()), each.getKey())))
                        .toArray(String[]::new);
                Program read =
                        Program.python("flywheel-sdk-" + RELEASE, Map.of(), "flywheel-sdk==" + RELEASE, arguments);

                assertThat(sealed.size()).isGreaterThanOrEqualTo(5);
                assertThat(JSON.readTree(read.succeeded())).isEqualTo(sealed);
            }
        }
    }

    private static String word(Hierarchy hierarchy, String id) {
        return hierarchy.kind(id).orElseThrow().name().toLowerCase(Locale.ROOT);
    }

    /** Returns what a sealed file says, in the form of the script; files above a session are in the project's item. */
    private static ObjectNode sealed(Path file, boolean ofSession) throws IOException {
        ObjectNode all = JSON.createObjectNode();
        for (JsonNode container : JSON.readTree(Files.readAllBytes(file)).path("containers")) {
            String kind = container.path("container_type").asString();
            if (ofSession && (kind.equals("project") || kind.equals("subject"))) {
                continue;
            }
            ObjectNode told = all.putObject(container.path("_id").asString());
            told.set("label", container.path("label"));
            if (kind.equals("group")) {
                continue;
            }
            told.set("info", container.path("info"));
            told.set("tags", container.path("tags"));
            container.path("notes").forEach(note -> told.withArray("notes").add(note.path("text")));
            told.withArray("notes");
            ObjectNode files = told.putObject("files");
            for (JsonNode entry : container.path("files")) {
                ObjectNode one = files.putObject(entry.path("file_id").asString());
                for (String field :
                        List.of("name", "hash", "size", "type", "modality", "version", "tags", "classification")) {
                    one.set(field, entry.path(field));
                }
                one.set("info", entry.has("info") ? entry.path("info") : JSON.createObjectNode());
            }
        }
        return all;
    }
}
