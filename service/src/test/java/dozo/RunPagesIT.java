package dozo;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.loopback.LoopbackSite;
import dozo.remote.SiteAddress;
import dozo.run.Operations;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The pages for operators: what they say to type works, against a service with a site. */
class RunPagesIT {

    @TempDir
    Path folder;

    private RunningService service;
    private LoopbackSite site;

    @BeforeEach
    void start() throws Exception {
        service = RunningService.shared();
        site = LoopbackSite.openSsh(folder.resolve("sshd"), Files.createDirectory(folder.resolve("dr")), 0);
        service.register("dr", site.address()).expect(200);
        Files.writeString(Files.createDirectories(folder.resolve("data/e7")).resolve("f"), "e7");
    }

    @AfterEach
    void stop() {
        site.close();
        service.close();
    }

    @Test
    void peopleAndScriptsRegisterAndAsk() throws Exception {
        for (String user : new String[] {"tanaka", "monitoring"}) {
            secret(user + ".txt", RunningService.PASSWORD);
        }
        try (DocShell shell = shell("DOZO_PASSWORD_FILE", service.passwordFile())) {
            shell.instead("(\\w+)\\.txt", folder.resolve("$1.txt")).instead("/data/p1", folder.resolve("data"));
            assertThat(shell.type("docs/run/people.md", "dozo user add tanaka"))
                    .contains("created user tanaka", "\ndozo_");
        }
        assertThat(service.get("/api/v1/users").text()).contains("tanaka", "monitoring");

        Path token = secret(
                "token",
                service.post("/api/v1/me/tokens", "{\"name\": \"scripts\"}").string("/secret"));
        try (DocShell shell = shell("DOZO_TOKEN_FILE", token)) {
            shell.instead("/data", folder.resolve("data"));
            assertThat(shell.type("docs/run/recipes.md", "curl -sS")).contains("\"items\"", "/data/e7", "RUNNING");
            service.awaitEnd(1);
            shell.typeAndCompare("docs/run/recipes.md", "$ dozo status --nagios");
        }
    }

    @Test
    void operatorsRehearseARestoreAndSayWhatIsOver() throws Exception {
        service.createExperiment("P1", "E7", folder.resolve("data/e7"));
        service.backUp();
        service.put("/api/v1/scanners/MR3T02", "{\"aeTitles\": [\"MR3T02\"]}").expect(200);
        try (DocShell shell = shell("DOZO_PASSWORD_FILE", service.passwordFile())) {
            // Fewer than five drills: the time is unknown, with exit code 1.
            shell.instead("dozo drill forecast", "! dozo drill forecast");
            assertThat(shell.type("docs/run/daily.md", "dozo drill --wait")).contains("P1/E7", "complete");
            shell.type("docs/run/people.md", "dozo certificate-key");
            assertThat(folder.resolve("dozo-key.pem")).content().contains("-----BEGIN PUBLIC KEY-----");
            assertThat(shell.type("docs/run/people.md", "dozo recovery-key")).contains("age1");
            SiteAddress old = new SiteAddress(
                    site.address().host(),
                    site.address().port(),
                    site.address().user(),
                    Files.createDirectory(folder.resolve("dr-old")).toString(),
                    site.address().identity(),
                    site.address().hostKey());
            service.register("dr-old", old).expect(200);
            service.awaitEnd(
                    service.bean(Operations.class).start("dr-old", "test").id());
            assertThat(shell.type("docs/run/people.md", "dozo retire P1/E7").lines())
                    .anyMatch(line -> line.matches(".*dr-old.*replaced by dr.*"));
        }
    }

    private DocShell shell(String secret, Path file) throws Exception {
        return new DocShell(folder, Map.of("DOZO_URL", service.url(), secret, file.toString()));
    }

    private Path secret(String name, String content) throws Exception {
        Path file = Files.writeString(folder.resolve(name), content + "\n");
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    }
}
