package dozo.start;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.icegreen.greenmail.util.GreenMail;
import com.icegreen.greenmail.util.ServerSetup;
import com.zaxxer.hikari.HikariDataSource;
import dozo.db.Campaign;
import dozo.db.TestDatabase;
import dozo.loopback.Ports;
import jakarta.mail.MessagingException;
import jakarta.mail.internet.MimeMessage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * A service that is killed while it tells people, again and again: nothing is lost, and what arrives twice has the same
 * {@code Message-ID}. At most one message a kill arrives twice.
 */
@Tag(Campaign.TAG)
class OutboxKillIT {

    private static final int KILLS = Campaign.times(2);
    private static final int ALERTS_EACH = 20;
    private static final Duration LIMIT = Duration.ofMinutes(3);

    @TempDir
    Path folder;

    private final HikariDataSource database = TestDatabase.fresh();
    private final JdbcClient jdbc = JdbcClient.create(database);

    @Test
    void nothingIsLostAndWhatArrivesTwiceIsRecognized() throws Exception {
        long seed = System.nanoTime();
        Random dice = new Random(seed);
        GreenMail mail = new GreenMail(new ServerSetup(Ports.free(), "127.0.0.1", ServerSetup.PROTOCOL_SMTP));
        mail.start();
        try {
            jdbc.sql("""
                            insert into recipient (name, channel, address, language, active, morning_report)
                            values ('one', 'mail', 'one@example.org', 'en', true, false),
                                   ('two', 'mail', 'two@example.org', 'ja', true, false)
                            """).update();
            for (int kill = 0; kill < KILLS; kill++) {
                raise();
                int before = mail.getReceivedMessages().length;
                int after = 1 + dice.nextInt(2 * ALERTS_EACH - 1);
                Process service = serve(mail.getSmtp().getPort());
                try {
                    await().atMost(LIMIT)
                            .pollInterval(Duration.ofMillis(1))
                            .until(() -> mail.getReceivedMessages().length >= before + after);
                } finally {
                    kill(service);
                }
                claimsAreOver();
            }
            Process service = serve(mail.getSmtp().getPort());
            try {
                await().atMost(LIMIT).until(() -> waiting() == 0);
            } finally {
                kill(service);
            }
            check(mail.getReceivedMessages(), seed);
        } finally {
            mail.stop();
        }
    }

    /** Writes what an evaluation writes; the alerts are over, so that the service's own evaluation changes nothing. */
    private void raise() {
        for (int i = 0; i < ALERTS_EACH; i++) {
            jdbc.sql("""
                            with raised as (
                                insert into alert (kind, count, subject, raised_at, seen_at, cleared_at)
                                values ('LATE', 1, 'P1/E1', now(), now(), now()) returning alert_id)
                            insert into alert_message (recipient_id, alert_id, kind, turn, count, subject, created_at, due_at)
                            select recipient_id, alert_id, 'RAISED', 0, 1, 'P1/E1', now(), now() from recipient, raised
                            """).update();
        }
    }

    /** Three minutes pass. */
    private void claimsAreOver() {
        jdbc.sql("update alert_message set claimed_until = now() - interval '1 second' where sent_at is null")
                .update();
    }

    private long waiting() {
        return jdbc.sql("select count(*) from alert_message where sent_at is null")
                .query(Long.class)
                .single();
    }

    private Process serve(int port) throws IOException {
        Path secret = Files.writeString(folder.resolve("password"), String.valueOf(database.getPassword()));
        Map<String, String> settings = new HashMap<>(Map.of(
                "DOZO_DB_URL", database.getJdbcUrl(),
                "DOZO_DB_USER", String.valueOf(database.getUsername()),
                "DOZO_DB_PASSWORD_FILE", secret.toString(),
                "DOZO_SERVICE_NAME", "one",
                "DOZO_MAIL_HOST", "127.0.0.1",
                "DOZO_MAIL_PORT", String.valueOf(port),
                "DOZO_MAIL_TLS", "none"));
        return ServeProcess.start(folder.resolve("work"), folder.resolve("log"), settings);
    }

    private static void kill(Process service) throws InterruptedException {
        service.destroyForcibly();
        assertThat(service.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    }

    private void check(MimeMessage[] received, long seed) throws MessagingException {
        Map<String, TreeSet<String>> recipients = new TreeMap<>();
        for (MimeMessage message : received) {
            recipients
                    .computeIfAbsent(message.getMessageID(), _ -> new TreeSet<>())
                    .add(Arrays.toString(message.getAllRecipients()) + message.getSubject());
        }
        int messages = 2 * ALERTS_EACH * KILLS;
        int twice = received.length - recipients.size();
        System.out.printf(
                "%d kills, %d messages: %d arrived, %d of them twice with the same Message-ID, seed %d%n",
                KILLS, messages, received.length, twice, seed);
        assertThat(recipients)
                .as("nothing is lost, nothing is told under two ids")
                .hasSize(messages);
        assertThat(recipients.values()).as("one id, one message").allMatch(each -> each.size() == 1);
        assertThat(twice).isLessThanOrEqualTo(KILLS);
        assertThat(jdbc.sql("select count(*) from alert_message where given_up_at is not null or attempts > :most")
                        .param("most", KILLS + 1)
                        .query(Long.class)
                        .single())
                .isZero();
    }
}
