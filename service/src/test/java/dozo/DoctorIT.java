package dozo;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.db.ChildJava;
import dozo.db.TestDatabase;
import dozo.loopback.LoopbackSite;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code dozo doctor} as a monitor runs it: its own process, its JSON and its exit code. DoctorTest has what it finds. */
class DoctorIT {

    private static final int LIMIT_SECONDS = 300;

    /** As the launcher gives them, and two that no check looks at: they save processor time. */
    private static final String[] LAUNCHER = {
        "-Xmx512m",
        "-XX:+ExitOnOutOfMemoryError",
        "--enable-native-access=ALL-UNNAMED",
        "-XX:TieredStopAtLevel=1",
        "-XX:+UseSerialGC"
    };

    @TempDir
    Path folder;

    private record Answer(int exitCode, String output, JsonNode json) {

        /** Returns the messages in one of these states. */
        List<String> messages(String... states) {
            List<String> messages = new ArrayList<>();
            json.at("/results").forEach(each -> {
                if (List.of(states).contains(each.at("/state").asString())) {
                    messages.add(each.at("/about").asString() + ": "
                            + each.at("/message").asString());
                    String cure = each.at("/cure").asString();
                    assertThat(each.at("/state").asString().equals("OK") ? cure.isEmpty() : cure.endsWith("."))
                            .as(each.toString())
                            .isTrue();
                }
            });
            return messages;
        }
    }

    @Test
    void besideARunningServiceAllIsWell() throws Exception {
        Path work = folder.resolve("work");
        TestDatabase.unpacked(work.resolve("postgres"));
        Files.setPosixFilePermissions(work, PosixFilePermissions.fromString("rwx------"));
        Path source = Files.createDirectory(folder.resolve("source"));
        Files.writeString(source.resolve("file"), "content");
        Map<String, String> embedded = Map.of("dozo.db.url", "", "dozo.db.user", "", "dozo.db.password", "");
        try (LoopbackSite site = LoopbackSite.openSsh(folder.resolve("sshd"), folder.resolve("dr"), 0);
                RunningService service = RunningService.start(work, TestDatabase.empty(), embedded)) {
            service.saveSite("dr", site.address());
            service.createExperiment("P1", "E1", source);
            String port = service.url().replaceAll(".*:", "");

            Answer answer = doctor(
                    LAUNCHER,
                    "",
                    Map.of("DOZO_WORK", work.toString(), "DOZO_HTTP_PORT", port, "DOZO_SCHEDULE_ZONE", "Asia/Tokyo"));

            // How much room this machine has is not the question.
            assertThat(answer.messages("WARNING", "BROKEN"))
                    .allMatch(each -> each.contains(" free") || each.startsWith("first steps: "))
                    .contains("first steps: No backup was made yet: nothing is safe.")
                    .doesNotContain("first steps: No experiment is registered: nothing is backed up.");
            assertThat(answer.messages("OK"))
                    .contains(
                            "HTTP: Dozo listens at port " + port,
                            "sources: 1 of 1 can be read",
                            "schema: that of this version")
                    .anyMatch(each -> each.matches("database: PostgreSQL 1[0-9.]+, UTF8"))
                    .anyMatch(each -> each.startsWith("site dr: SSH-2.0-OpenSSH_") && each.contains("digests by exec "))
                    .anyMatch(each -> each.startsWith("schedule: the next night to site dr is due at "))
                    .anyMatch(each -> each.startsWith("service: ") && each.contains(" is active since "));
            assertThat(answer.exitCode)
                    .isEqualTo(answer.messages("WARNING", "BROKEN").isEmpty() ? 0 : 1);
            assertThat(answer.output).doesNotContain(service.password());
            service.get("/api/v1/projects").expect(200);
        }
    }

    @Test
    void onABrokenInstallationItFindsEverythingAndEndsInOrder() throws Exception {
        Answer answer = doctor(
                new String[] {"-Xmx150m", "-Duser.timezone=UTC"},
                "ulimit -n 700; ",
                Map.of(
                        "LC_ALL", "C",
                        "DOZO_WORK", folder.resolve("work").toString(),
                        "DOZO_HTTP_ADDRESS", "203.0.113.1",
                        "DOZO_SCHEDUL_CRON", "-",
                        "DOZO_TRANSFER_LANES", "65",
                        "DOZO_DB_URL", "jdbc:postgresql://127.0.0.1:1/dozo",
                        "DOZO_DB_USER", "dozo",
                        "DOZO_DB_PASSWORD", "hush-4713"));

        assertThat(answer.messages("WARNING", "BROKEN", "HINT"))
                .contains(
                        "open files: at most 700 at once, which nights exceed",
                        "settings: unknown setting DOZO_SCHEDUL_CRON; did you mean DOZO_SCHEDULE_CRON?",
                        "HTTP: 203.0.113.1 is not an address of this machine")
                .anyMatch(each -> each.startsWith("Java: started without -XX:+ExitOnOutOfMemoryError"))
                .anyMatch(each -> each.startsWith("Java: file names are read as "))
                .anyMatch(each -> each.startsWith("memory: ") && each.endsWith(": the heap is small"))
                .anyMatch(each -> each.startsWith("settings: DOZO_TRANSFER_LANES is \"65\""))
                .anyMatch(each -> each.startsWith("database: cannot use jdbc:postgresql://127.0.0.1:1/dozo"))
                .anyMatch(each -> each.startsWith("time zone: the machine's, UTC"));
        assertThat(answer.json.at("/state").asString()).isEqualTo("BROKEN");
        assertThat(answer.exitCode).isEqualTo(1);
        assertThat(answer.output).doesNotContain("hush-4713", "Exception");
        assertThat(folder.resolve("work")).doesNotExist();
    }

    private Answer doctor(String[] options, String before, Map<String, String> settings)
            throws IOException, InterruptedException {
        Path output = Files.createTempFile(folder, "output", "");
        ProcessBuilder command = ChildJava.of(Application.class)
                .by(List.of("bash", "-c", before + "exec \"$@\"", "doctor"))
                .withoutUsualOptions()
                .options(options)
                .arguments("doctor", "--json", "--timeout", "250")
                .fromCache()
                .process();
        command.environment().put("LC_ALL", "C.UTF-8");
        command.environment().putAll(settings);
        // Java's warnings about options are no part of the answer.
        Process process = command.redirectError(folder.resolve("errors").toFile())
                .redirectOutput(output.toFile())
                .start();
        try {
            assertThat(process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)).isTrue();
        } finally {
            process.destroyForcibly();
        }
        String all = Files.readString(output);
        return new Answer(process.exitValue(), all, new JsonMapper().readTree(all));
    }
}
