package dozo;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.command.Exit;
import dozo.ledger.Ledger.LedgerEntry;
import dozo.loopback.LoopbackSite;
import dozo.people.Role;
import dozo.registry.SiteKey;
import dozo.remote.Identity;
import dozo.remote.SiteAddress;
import dozo.run.Runs.RunState;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Keys of the service are replaced by command, and the former ones work until they are dropped. */
class KeyRotationIT {

    @TempDir
    Path folder;

    @AutoClose
    private RunningService service;

    @AutoClose
    private LoopbackSite site;

    private Path key;
    private Path authorized;
    private int nights;

    @BeforeEach
    void start() throws Exception {
        service = RunningService.shared();
        key = service.bean(SiteKey.class).file();
        site = LoopbackSite.openSsh(folder.resolve("sshd"), Files.createDirectory(folder.resolve("dr")), 0);
        authorized = folder.resolve("sshd/authorized_keys");
        accept(service.bean(SiteKey.class).publicKey());
        SiteAddress at = site.address();
        service.saveSite("dr", new SiteAddress(at.host(), at.port(), at.user(), at.root(), key, at.hostKey()));
        service.createExperiment("P1", "E1", folder.resolve("source"));
    }

    private void accept(String... lines) throws Exception {
        Files.write(authorized, List.of(lines));
    }

    private RunState night() throws Exception {
        Files.writeString(folder.resolve("source/file-" + nights++), "new");
        return service.backUp().state();
    }

    private Ended dozo(String line) {
        return Ended.dozo(service, line);
    }

    private List<LedgerEntry> rows(String action) {
        return service.ledger().stream()
                .filter(row -> row.action().equals(action))
                .toList();
    }

    @Test
    void nightsGoOnWhileTheKeyForSitesIsReplaced() throws Exception {
        String old = service.bean(SiteKey.class).publicKey();
        String secret = Files.readString(key);
        assertThat(night()).isEqualTo(RunState.COMPLETE);

        Ended rotated = dozo("key rotate site-key").ends(0);

        String present = service.bean(SiteKey.class).publicKey();
        assertThat(rotated.out()).startsWith(present + "\n# Add this line to the authorized_keys");
        assertThat(present).isNotEqualTo(old);
        assertThat(Identity.former(key)).hasContent(secret);
        for (Path file : List.of(key, Identity.former(key))) {
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                    .isEqualTo("rw-------");
        }
        assertThat(night()).as("with the line of the old key only").isEqualTo(RunState.COMPLETE);
        assertThat(dozo("key sites").ends(1).out()).containsPattern("dr +former");
        assertThat(dozo("key list").out()).containsPattern("site-key +SHA256:\\S+ +valid");
        assertThat(dozo("key drop-old site-key").ends(Exit.REFUSED).err())
                .contains("site dr does not accept the present key yet");
        assertThat(dozo("key rotate site-key").ends(Exit.REFUSED).err()).contains("drop it first");

        accept(old, present);
        assertThat(night()).as("with both lines").isEqualTo(RunState.COMPLETE);
        assertThat(dozo("key sites").ends(0).out()).containsPattern("dr +present");
        accept(present);
        assertThat(dozo("key drop-old site-key").ends(0).out()).isEqualTo("removed the key before site-key\n");
        assertThat(Identity.former(key)).doesNotExist();
        assertThat(night()).as("with the new line only").isEqualTo(RunState.COMPLETE);
        assertThat(dozo("key drop-old site-key").ends(Exit.REFUSED).err()).contains("there is no key before site-key");

        assertThat(rows("key.introduced"))
                .filteredOn(row -> row.detail().contains("\"sites\""))
                .singleElement()
                .satisfies(row -> assertThat(row.subject()).startsWith("SHA256:"));
        assertThat(rows("key.dropped")).singleElement().satisfies(row -> {
            assertThat(row.actor()).isEqualTo("admin");
            assertThat(row.detail()).contains("\"anyway\": \"false\"");
        });
    }

    @Test
    void aKeyThatMayBeNeededIsDroppedByForceOnly() throws Exception {
        dozo("key rotate site-key").ends(0);
        site.close();

        assertThat(dozo("key sites").ends(1).out()).contains("unknown", "does not answer");
        assertThat(dozo("key drop-old site-key").ends(Exit.REFUSED).err())
                .contains("it is unknown whether site dr accepts the present key");
        assertThat(Identity.former(key)).exists();
        dozo("key drop-old site-key --force").ends(0);
        assertThat(Identity.former(key)).doesNotExist();
    }

    @Test
    void anInterruptedRotationIsDoneAgain() throws Exception {
        // The process died after the first of the two files was written.
        Files.copy(key, Identity.former(key));
        Files.writeString(key.resolveSibling("site-key.new"), "half");
        String old = Files.readString(key);

        assertThat(dozo("key drop-old site-key").ends(Exit.REFUSED).err()).contains("no key before");
        dozo("key rotate site-key").ends(0);

        assertThat(Identity.former(key)).hasContent(old);
        assertThat(Files.readString(key)).isNotEqualTo(old);
        Files.delete(key);
        assertThat(dozo("key rotate site-key").ends(Exit.REFUSED).err()).contains("the file site-key is missing");
    }

    @Test
    void recordsAreWrittenAnewForTheNewRecoveryKey() throws Exception {
        assertThat(night()).isEqualTo(RunState.COMPLETE);
        String old = recipient();

        assertThat(dozo("key rotate recovery-key").ends(0).out())
                .startsWith("age1")
                .contains("into the safe");

        assertThat(recipient()).isNotEqualTo(old);
        assertThat(dozo("recovery-key").out()).contains("# until dozo key drop-old recovery-key: " + old);
        assertThat(dozo("key drop-old recovery-key").ends(Exit.REFUSED).err())
                .contains("site dr has records that only the former key can read");
        assertThat(service.backUp().state()).isEqualTo(RunState.COMPLETE);
        dozo("key drop-old recovery-key").ends(0);
        assertThat(dozo("recovery-key").out()).doesNotContain(old);
        assertThat(dozo("key drop-old recovery-key").ends(Exit.REFUSED).err()).contains("no key before recovery-key");
        assertThat(rows("key.introduced").stream().map(LedgerEntry::subject)).containsOnlyOnce(recipient());
    }

    @Test
    void noKeyForRecordsIsReplacedDuringARun() {
        service.openRun();
        for (String name : List.of("recovery-key", "certificate-key")) {
            assertThat(dozo("key rotate " + name).ends(Exit.REFUSED).err()).contains("a run is active");
        }
    }

    @Test
    void onlyAnAdministratorWithAPasswordReplacesKeys() {
        service.createUser("operator", Role.OPERATOR);
        service.as("operator").post("/api/v1/keys/site-key/rotation", null).expect(403);
        service.as("operator").delete("/api/v1/keys/site-key/former").expect(403);
        service.as("operator").get("/api/v1/keys").expect(403);
        service.post("/api/v1/keys/door-key/rotation", "").expect(404);
        service.delete("/api/v1/keys/door-key/former").expect(404);
        service.delete("/api/v1/keys/certificate-key/former").refused(409, "name");
        service.delete("/api/v1/keys/recovery-key/former").refused(409, "key");
    }

    private String recipient() {
        return service.get("/api/v1/recovery-key").string("/publicKey");
    }
}
