package dozo;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dozo.command.Exit;
import dozo.db.ChildJava;
import dozo.db.StartsServices;
import dozo.db.TestDatabase;
import dozo.ledger.Coverage;
import dozo.ledger.Ledger;
import dozo.loopback.LoopbackSite;
import dozo.registry.Experiments;
import dozo.remote.SiteAddress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.simple.JdbcClient;

/** {@code dozo rebuild-catalogue} as a person runs it on a new machine: its own process, its output and its exit code. */
@StartsServices(2)
class RebuildCommandIT {

    @TempDir
    Path folder;

    private final HikariDataSource fresh = TestDatabase.empty();

    @Test
    void aNewMachineGetsTheCatalogueFromTheSiteAndServesIt() throws Exception {
        Path source = Files.createDirectory(folder.resolve("source"));
        Files.writeString(source.resolve("file"), "content");
        Path root = Files.createDirectory(folder.resolve("dr"));
        try (LoopbackSite site = LoopbackSite.openSsh(folder.resolve("sshd"), root, 0)) {
            String fingerprint = backUp(source, site.address());

            Ended unknown = rebuild(site.address(), "dr", false);
            assertThat(unknown.out()).contains("authorized_keys", "ssh-ed25519 ", "the same command continues");
            assertThat(unknown.code()).isEqualTo(Exit.UNAVAILABLE);

            HikariDataSource another = TestDatabase.empty();
            Ended loaded = rebuild(
                    another,
                    site.address(),
                    "dr",
                    true,
                    "--recovery-key",
                    folder.resolve("old/recovery-key").toString());
            assertThat(loaded.out())
                    .contains("signed with " + fingerprint + "; not checked, because --signed-by was not given");
            assertThat(loaded.code()).isEqualTo(Exit.WELL);
            assertThat(new Ledger(JdbcClient.create(another), InstantSource.system()).after(0, 10_000))
                    .filteredOn(row -> row.action().equals("catalogue.loaded"))
                    .singleElement()
                    .satisfies(row -> assertThat(row.detail()).contains(fingerprint));

            Ended rebuilt = rebuild(site.address(), "dr", true);
            assertThat(rebuilt.out())
                    .contains("lists: 1 files, folders and links of 1 experiments", "everything is verified")
                    .doesNotContain("Exception", "password");
            assertThat(rebuilt.code()).isEqualTo(Exit.WELL);

            Ended again = rebuild(site.address(), "dr", true);
            assertThat(again.out()).contains("dozo: database: the database is in use");
            assertThat(again.code()).isEqualTo(Exit.REFUSED);

            assertThat(rebuild(site.address(), "no name", true).code()).isEqualTo(Exit.REFUSED);
        }
        try (RunningService service = RunningService.start(folder.resolve("new"), fresh, Map.of())) {
            assertThat(service.bean(Coverage.class).all(1).safe()).isTrue();
            assertThat(service.bean(Experiments.class).find("p", "E1")).isPresent();
        }
    }

    private String backUp(Path source, SiteAddress site) throws IOException {
        try (RunningService service = RunningService.start(folder.resolve("old"))) {
            service.saveSite("dr", site);
            service.createExperiment("p", "E1", source);
            service.backUp();
            assertThat(service.bean(Coverage.class).all(1).safe()).isTrue();
            return service.get("/api/v1/certificate-key").string("/fingerprint");
        }
    }

    private Ended rebuild(SiteAddress site, String name, boolean withKey) throws IOException, InterruptedException {
        return rebuild(fresh, site, name, withKey);
    }

    private Ended rebuild(HikariDataSource database, SiteAddress site, String name, boolean withKey, String... more)
            throws IOException, InterruptedException {
        ChildJava java = ChildJava.of(Application.class)
                .arguments("rebuild-catalogue", "--port", String.valueOf(site.port()), "--host-key", site.hostKey());
        if (withKey) {
            java.arguments("--identity", site.identity().toString());
        }
        java.arguments(more).arguments(name, "%s@%s:%s".formatted(site.user(), site.host(), site.root()));
        ProcessBuilder command = java.fromCache().process();
        Path secret = folder.resolve("password");
        Files.writeString(secret, String.valueOf(database.getPassword()));
        command.environment()
                .putAll(Map.of(
                        "DOZO_WORK", folder.resolve("new").toString(),
                        "DOZO_DB_URL", database.getJdbcUrl(),
                        "DOZO_DB_USER", String.valueOf(database.getUsername()),
                        "DOZO_DB_PASSWORD_FILE", secret.toString()));
        return Ended.of(command);
    }
}
