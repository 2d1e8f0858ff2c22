package dozo.start;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dozo.Answer;
import dozo.Ended;
import dozo.RunningService;
import dozo.certificate.SigningKey;
import dozo.db.StartsServices;
import dozo.db.TestDatabase;
import dozo.people.Role;
import dozo.record.RecoveryKey;
import dozo.record.RecoveryKeys;
import dozo.registry.SiteKey;
import dozo.remote.Identity;
import dozo.remote.SiteAddress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TimeZone;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.simple.JdbcClient;

/** A service or worker that could not do the work of the active service says so now, and not after a takeover. */
@StartsServices(12)
class StandByKeysTest {

    private static final Duration LIMIT = Duration.ofMinutes(5);

    private static final List<String> GENERATED = List.of(
            "admin-password",
            "certificate-key",
            "checkpoint-key",
            "pseudonym-key",
            "recovery-key",
            "site-key",
            "witness-key");

    @TempDir
    Path folder;

    private final HikariDataSource database = TestDatabase.fresh();
    private final JdbcClient jdbc = JdbcClient.create(database);

    /** The trap: it would generate other keys, and nobody would know until a takeover. */
    @Test
    void aServiceWithoutTheKeysOfTheActiveOneIsRefusedAndGeneratesNone() throws Exception {
        try (RunningService active = start("one", Map.of())) {
            awaitTold(active);

            StartFailure failure = refused(Map.of("dozo.db.start-wait", "10m"));

            assertThat(failure.exitCode()).isEqualTo(78);
            assertThat(failure.message())
                    .startsWith(
                            "this service lacks what the active service, one, has: the key admin-password is missing")
                    .contains("the key pseudonym-key is missing or not usable in " + folder.resolve("two/pseudonym-key")
                            + "; copy " + folder.resolve("one/pseudonym-key") + " of one to this file")
                    .doesNotContain("\n");
            assertThat(GENERATED).allSatisfy(name -> {
                assertThat(failure.message()).contains("the key " + name + " is missing");
                assertThat(folder.resolve("two").resolve(name)).doesNotExist();
            });
            assertThat(jdbc.sql("select count(*) from service_seen where name = 'two'")
                            .query(Long.class)
                            .single())
                    .as("it was never there")
                    .isZero();
        }
    }

    /** The active service has died before it could tell its keys. */
    @Test
    void aServiceWithoutKeysIsRefusedAlsoIfThoseOfTheActiveOneAreNotKnown() throws Exception {
        start("one", Map.of()).close();
        jdbc.sql("update service_seen set equipment = null").update();
        keepActive();

        assertThat(refused(Map.of("dozo.db.start-wait", "0s")).message()).contains("the key pseudonym-key is missing");
        assertThat(folder.resolve("two/pseudonym-key")).doesNotExist();

        copied(folder.resolve("one"), folder.resolve("two"));
        try (RunningService other = start("two", Map.of("dozo.db.start-wait", "0s"))) {
            other.get("/api/v1/service").has("/active", false);
        }
    }

    @Test
    void aServiceWithOtherKeysIsRefusedAndKeepsThem() throws Exception {
        try (RunningService active = start("one", Map.of())) {
            saveSite(active, folder.resolve("key-of-dr"));
            awaitTold(active);
        }
        keepActive();
        Path work = copied(folder.resolve("one"), folder.resolve("two"));
        for (String name : GENERATED) {
            if (!name.equals("admin-password")) {
                Files.delete(work.resolve(name));
            }
        }
        new SiteKey(work.resolve("site-key")).created();
        for (String name : List.of("certificate-key", "checkpoint-key", "witness-key")) {
            new SigningKey(work.resolve(name)).create();
        }
        new RecoveryKey(work.resolve("recovery-key")).create();
        Files.writeString(work.resolve("pseudonym-key"), "another key with 24 letters\n");
        Files.setPosixFilePermissions(work.resolve("pseudonym-key"), PosixFilePermissions.fromString("rw-------"));
        Files.delete(folder.resolve("key-of-dr"));

        String said = refused(Map.of("dozo.db.start-wait", "0s")).message();

        for (String name : List.of(
                "certificate-key", "checkpoint-key", "pseudonym-key", "recovery-key", "site-key", "witness-key")) {
            assertThat(said).contains("the key %s in %s differs".formatted(name, work.resolve(name)));
        }
        assertThat(said)
                .contains("the key of site dr is missing or not usable in " + folder.resolve("key-of-dr"))
                .doesNotContain("admin-password")
                .doesNotContain("another key");
    }

    /** A rotation, a copy and a start within seconds: the active service tells its keys every 10 s only. */
    @Test
    void aKeyThatWasJustReplacedOnBothMachinesIsNoDifference() throws Exception {
        try (RunningService active = start("one", Map.of())) {
            awaitTold(active);
            active.bean(RecoveryKeys.class).replace("admin");
            copied(folder.resolve("one"), folder.resolve("two"));

            try (RunningService other = start("two", Map.of())) {
                other.get("/api/v1/service").has("/active", false);
            }
        }
    }

    @Test
    void whatDiffersLaterIsSeenUntilItIsGone() throws Exception {
        try (RunningService active = start("one", Map.of("dozo.risk.after", "72h"))) {
            active.saveUnreachable("dr");
            active.openRun();
            awaitTold(active);
            Path work = copied(folder.resolve("one"), folder.resolve("two"));
            try (CapturedLog log = new CapturedLog();
                    RunningService other = start(
                            "two", Map.of("dozo.drill.days", "30", "dozo.risk.after", "3d", "dozo.oidc.ca-file", ""))) {
                assertThat(log.count("compared with the active service, one: DOZO_DRILL_DAYS differs"))
                        .isEqualTo(1);
                assertThat(log.count("compared with the active service")).isEqualTo(1);

                // A rotation: the active service has the new key first.
                Path key = folder.resolve("one/recovery-key");
                Files.delete(key);
                new RecoveryKey(key).create();

                await().atMost(LIMIT).until(() -> differences(active).size() == 2);
                Answer seen = other.get("/api/v1/service");
                seen.has("/services/1/name", "two");
                seen.has("/services/1/differences/0/kind", "KEY_DIFFERS");
                seen.has("/services/1/differences/0/name", "recovery-key");
                seen.has(
                        "/services/1/differences/0/file",
                        work.resolve("recovery-key").toString());
                seen.has("/services/1/differences/0/source", key.toString());
                seen.has("/services/1/differences/1/kind", "SETTING_DIFFERS");
                seen.has("/services/1/differences/1/name", "DOZO_DRILL_DAYS");
                assertThat(seen.at("/services/0/differences")).isEmpty();
                assertThat(active.page(active.browser(), "/"))
                        .contains("A service or worker differs from the active service")
                        .contains("The service two, which stands by:")
                        .contains("The key recovery-key differs")
                        .contains("The setting DOZO_DRILL_DAYS differs.");
                assertThat(active.look(active.browser(), "/", "ja").text())
                        .contains("待機中のサービス two")
                        .contains("鍵 recovery-key が異なる");
                assertThat(Ended.dozo(active, "status").out())
                        .contains("  two: the key recovery-key in %s differs".formatted(work.resolve("recovery-key")));

                active.createUser("tanaka", Role.LAB_MANAGER);
                Answer forOthers = active.as("tanaka").get("/api/v1/service");
                forOthers.has("/services/1/name", "two");
                assertThat(forOthers.at("/services/1/differences")).isEmpty();
                assertThat(forOthers.text()).doesNotContain("recovery-key");

                copied(folder.resolve("one"), work);
                await().atMost(LIMIT).until(() -> differences(active).size() == 1);
            }
        }
    }

    @Test
    void aWorkerWithoutTheKeyOfASiteIsRefused() throws Exception {
        Path key = folder.resolve("key-of-dr");
        try (RunningService active = start("one", Map.of())) {
            saveSite(active, key);
            awaitTold(active);
            Process worker = worker("w1");
            try {
                await().atMost(LIMIT)
                        .until(() -> active.get("/api/v1/service")
                                .at("/workers/0/differences")
                                .toString()
                                .contains("DOZO_SCHEDULE_ZONE"));
                assertThat(said("w1")).contains("compared with the active service, one: DOZO_SCHEDULE_ZONE differs");
                assertThat(active.page(active.browser(), "/")).contains("The worker ");
                assertThat(active.get("/api/v1/service").at("/services").size())
                        .as("a worker is no service")
                        .isEqualTo(1);
            } finally {
                worker.destroy();
            }
            assertThat(worker.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
            await().atMost(LIMIT)
                    .until(() -> active.get("/api/v1/service").at("/workers").isEmpty());
        }
        Files.delete(key);
        keepActive();
        Process other = worker("w2");
        try {
            assertThat(other.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
            assertThat(other.exitValue()).isEqualTo(78);
            assertThat(said("w2"))
                    .contains("this worker lacks what the active service, one, has: the key of site dr is missing or"
                            + " not usable in " + key);
        } finally {
            other.destroyForcibly();
        }
    }

    private void saveSite(RunningService service, Path key) throws IOException {
        Identity.create(key, "test");
        service.saveSite("dr", new SiteAddress("127.0.0.1", 1, "dozo", "/backup", key, "ssh-ed25519 AAAA"));
    }

    /** Copies the files of a work folder. */
    static Path copied(Path from, Path to) throws IOException {
        Files.createDirectories(to, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        try (Stream<Path> files = Files.list(from).filter(Files::isRegularFile)) {
            for (Path each : files.toList()) {
                Files.copy(
                        each,
                        to.resolve(each.getFileName()),
                        StandardCopyOption.COPY_ATTRIBUTES,
                        StandardCopyOption.REPLACE_EXISTING);
            }
        }
        return to;
    }

    /** Lets the lease of the service that has ended go on. */
    private void keepActive() {
        jdbc.sql("update service_lease set lease_until = now() + interval '1 hour'")
                .update();
    }

    /** Waits until the active service has told its keys, with those of all sites. */
    private static void awaitTold(RunningService active) {
        await().atMost(LIMIT).until(() -> active.count("""
                                select count(*) from service_seen
                                where equipment is not null
                                  and (select count(*) from site) = (select count(*) from jsonb_object_keys(equipment -> 'keys') name
                                                                     where name like 'of site%')
                                """) == 1);
    }

    private static List<String> differences(RunningService service) {
        List<String> names = new ArrayList<>();
        service.get("/api/v1/service")
                .at("/services/1/differences")
                .forEach(each -> names.add(each.at("/name").asString()));
        return names;
    }

    private StartFailure refused(Map<String, String> more) {
        Throwable thrown = catchThrowable(() -> start("two", more).close());
        return StartFailure.of(thrown).orElseThrow(() -> new AssertionError(thrown));
    }

    private RunningService start(String name, Map<String, String> more) {
        Map<String, String> settings = new HashMap<>(more);
        settings.put("dozo.service.name", name);
        return RunningService.start(folder.resolve(name), database, settings);
    }

    private Process worker(String name) throws IOException {
        return ServeProcess.startWorker(
                List.of(),
                folder.resolve(name),
                folder.resolve("output-" + name),
                Map.of(
                        "DOZO_DB_URL",
                        database.getJdbcUrl(),
                        "DOZO_DB_USER",
                        String.valueOf(database.getUsername()),
                        "DOZO_DB_PASSWORD",
                        String.valueOf(database.getPassword()),
                        "DOZO_SCHEDULE_ZONE",
                        TimeZone.getDefault().getID().equals("Asia/Tokyo") ? "UTC" : "Asia/Tokyo"));
    }

    private String said(String name) throws IOException {
        return Files.readString(folder.resolve("output-" + name));
    }
}
