package dozo.certificate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dozo.db.TestDatabase;
import dozo.ledger.Ledger;
import dozo.ledger.LedgerTree;
import dozo.registry.KeyFile;
import dozo.registry.Refusal;
import dozo.registry.SiteKey;
import dozo.registry.SiteKeys;
import dozo.registry.Sites;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.JdbcTransactionManager;

/** A key of the service is replaced if and only if the ledger has the row, wherever the process dies. */
class InterruptedRotationTest {

    @TempDir
    Path folder;

    private JdbcClient jdbc;
    private Ledger ledger;
    private Path signing;
    private Path site;
    private Certificates certificates;
    private SiteKeys sites;

    @BeforeEach
    void create() {
        HikariDataSource database = TestDatabase.fresh();
        InstantSource clock = InstantSource.system();
        jdbc = JdbcClient.create(database);
        ledger = new Ledger(jdbc, clock);
        signing = folder.resolve("certificate-key");
        site = folder.resolve("site-key");
        SigningKey key = new SigningKey(signing);
        key.create();
        certificates = new Certificates(
                jdbc,
                new JdbcTransactionManager(database),
                ledger,
                key,
                new Checkpoints(jdbc, ledger, new LedgerTree(jdbc), new LogKeys(key, key, "test")),
                clock);
        certificates.signer("anna");
        sites = new SiteKeys(new SiteKey(site), new Sites(jdbc, ledger, clock), ledger);
        sites.create();
    }

    @Test
    void withoutItsRowNoKeyIsReplaced() throws Exception {
        String certificate = Files.readString(signing);
        String login = Files.readString(site);
        jdbc.sql("alter table ledger add constraint no_row check (action <> 'key.introduced') not valid")
                .update();
        assertThatThrownBy(() -> certificates.replace("anna")).hasMessageContaining("no_row");
        assertThatThrownBy(() -> sites.replace("anna")).hasMessageContaining("no_row");
        jdbc.sql("alter table ledger drop constraint no_row").update();

        certificates.signer("anna");
        sites.create();

        assertThat(signing).hasContent(certificate);
        assertThat(site).hasContent(login);
        assertThat(certificates.key().earlier()).isEmpty();
        assertThat(Files.list(folder)).containsExactlyInAnyOrder(signing, site);
    }

    @Test
    void aKeyWithARowIsInItsPlaceAtTheNextUse() throws Exception {
        SigningKey next = new SigningKey(KeyFile.next(signing));
        next.create();
        ledger.append(
                "anna",
                "key.introduced",
                SigningKey.fingerprint(next.published()),
                Map.of("purpose", "certificates", "vouched", "Dozo-Key: …"));
        byte[] present = next.published().getPublic().getEncoded();
        String login = Files.readString(site);
        SiteKey other = new SiteKey(KeyFile.next(site));
        other.created();
        String follows = other.fingerprint();
        ledger.append("anna", "key.introduced", follows, Map.of("purpose", "sites"));
        // The process died after the first of two steps.
        Files.copy(site, KeyFile.former(site));

        assertThat(certificates.signer("anna").publicKey()).isEqualTo(present);
        sites.create();

        assertThat(certificates.key().earlier()).containsExactly("Dozo-Key: …");
        assertThat(new SiteKey(site).fingerprint()).isEqualTo(follows);
        assertThat(KeyFile.former(site)).hasContent(login);
        assertThat(Files.list(folder)).containsExactlyInAnyOrder(signing, site, KeyFile.former(site));
    }

    @Test
    void theRowOfADroppedKeyNamesIt() throws Exception {
        String former = new SiteKey(site).fingerprint();
        sites.replace("anna");

        sites.drop(true, "anna");

        assertThat(ledger.after(0, 10).getLast().subject()).isEqualTo(former);
    }

    @Test
    void aLostKeyIsNotReplacedByItsUse() throws Exception {
        Files.delete(signing);

        assertThatThrownBy(() -> certificates.signer("anna"))
                .isInstanceOf(Refusal.class)
                .hasMessageContaining("the file certificate-key is missing");

        assertThat(signing).doesNotExist();
    }
}
