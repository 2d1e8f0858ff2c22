package dozo.alert;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.alert.Alerts.Changed;
import dozo.alert.Condition.Kind;
import dozo.alert.Outbox.Message;
import dozo.alert.Outbox.Occasion;
import dozo.alert.Recipients.Channel;
import dozo.alert.Recipients.Recipient;
import dozo.db.TestDatabase;
import dozo.ledger.Ledger;
import dozo.ledger.Sight;
import dozo.registry.Refusal;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalTime;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Each recipient is told once when a condition begins, again when it wants to, and once when it is over. */
class AlertsTest {

    private static final ZoneId ZONE = ZoneId.of("Asia/Tokyo");

    /** 21:00 in the time zone of nights. */
    private static final Instant EVENING = Instant.parse("2026-11-27T12:00:00Z");

    private static final Condition FULL = new Condition(Kind.SITE_FULL, null, null, 1, "dr");
    private static final Condition LATE = new Condition(Kind.LATE, null, "P1", 2, "P1/E1, …");
    private static final Condition LOST = new Condition(Kind.LOST, null, "P2", 5, "P2/E1");

    private final javax.sql.DataSource database = TestDatabase.fresh();
    private final JdbcClient jdbc = JdbcClient.create(database);
    private final TransactionTemplate transaction = new TransactionTemplate(new JdbcTransactionManager(database));
    private Instant now = EVENING;
    private final Ledger ledger = new Ledger(jdbc, () -> now);
    private final Recipients recipients = new Recipients(jdbc, ledger);
    private final Alerts alerts = new Alerts(jdbc, recipients, () -> now, ZONE);
    private final Outbox outbox = new Outbox(jdbc, recipients, ledger, () -> now);

    @BeforeEach
    void createProjects() {
        jdbc.sql("insert into project (code, title, created_at) values ('P1', '', now()), ('P2', '', now())")
                .update();
    }

    @Test
    void aConditionIsToldOnceWhenItBeginsAndOnceWhenItIsOver() {
        save("it", List.of(), null, null, null);
        assertThat(evaluate(LATE)).isEqualTo(new Changed(1, 0));
        for (int n = 0; n < 10_000; n++) {
            assertThat(evaluate(new Condition(Kind.LATE, null, "P1", 2 + n % 3, "P1/E1, …")))
                    .isEqualTo(new Changed(0, 0));
        }
        assertThat(deliverAll()).singleElement().satisfies(message -> {
            assertThat(message.occasion()).isEqualTo(Occasion.RAISED);
            assertThat(message.kind()).isEqualTo(Kind.LATE);
            assertThat(message.project()).isEqualTo("P1");
            assertThat(message.count()).isEqualTo(2);
            assertThat(message.raisedAt()).isEqualTo(EVENING);
        });

        later(Duration.ofHours(2));
        assertThat(evaluate()).isEqualTo(new Changed(0, 1));
        assertThat(evaluate()).isEqualTo(new Changed(0, 0));
        assertThat(deliverAll()).extracting(Message::occasion).containsExactly(Occasion.CLEARED);
        assertThat(evaluate(LATE)).as("it begins again").isEqualTo(new Changed(1, 0));
        assertThat(deliverAll()).extracting(Message::occasion).containsExactly(Occasion.RAISED);
        assertThat(alerts.page(Sight.EVERYTHING, false, Long.MAX_VALUE, 10)).hasSize(2);
        assertThat(alerts.page(Sight.EVERYTHING, true, Long.MAX_VALUE, 10))
                .singleElement()
                .satisfies(alert -> assertThat(alert.clearedAt()).isNull());
    }

    @Test
    void recipientsOfProjectsAreToldOnlyAboutThose() {
        save("it", List.of(), null, null, null);
        save("lab1", List.of("P1"), null, null, null);
        evaluate(FULL, LATE, LOST);

        assertThat(deliverAll())
                .extracting(message -> message.recipient() + " " + message.kind())
                .containsExactlyInAnyOrder("it SITE_FULL", "it LATE", "it LOST", "lab1 LATE");
        assertThat(alerts.page(Sight.of(List.of("P1")), true, Long.MAX_VALUE, 10))
                .as("what a lab manager of P1 sees")
                .extracting(Alerts.Alert::kind)
                .containsExactly(Kind.LATE);
    }

    @Test
    void aConditionThatStandsIsRepeatedAsOftenAsTheRecipientWants() {
        save("it", List.of(), 24, null, null);
        save("boss", List.of(), null, null, null);
        evaluate(FULL);
        assertThat(deliverAll()).hasSize(2);
        for (int hours = 1; hours <= 49; hours++) {
            later(Duration.ofHours(1));
            evaluate(FULL);
        }
        assertThat(deliverAll()).as("not before the one before was sent").hasSize(1);
        evaluate(FULL);
        assertThat(deliverAll())
                .extracting(message -> message.recipient() + " " + message.occasion())
                .containsExactly("it REMINDER");
        evaluate(FULL);
        assertThat(deliverAll()).isEmpty();
    }

    @Test
    void inQuietHoursOnlyTheGravestIsTold() {
        save("it", List.of(), null, "22:00", "07:00");
        later(Duration.ofHours(2));
        evaluate(FULL, LATE, LOST);
        assertThat(deliverAll()).extracting(Message::kind).containsExactly(Kind.LOST);

        evaluate(LATE, LOST);
        later(Duration.ofHours(7).plusMinutes(59));
        assertThat(deliverAll()).isEmpty();
        later(Duration.ofMinutes(1));
        assertThat(deliverAll())
                .as("what began and ended in quiet hours is not told")
                .extracting(message -> message.kind() + " " + message.occasion())
                .containsExactly("LATE RAISED");
    }

    @Test
    void whatCannotBeDeliveredWaitsAndNothingIsLostInADay() {
        save("it", List.of(), null, null, null);
        evaluate(LATE);
        int attempts = 0;
        for (Instant end = EVENING.plus(Duration.ofDays(1)); now.isBefore(end); later(Duration.ofMinutes(1))) {
            for (Message message : claimed()) {
                outbox.failed(message, "the mail server does not answer", false);
                attempts++;
            }
        }
        assertThat(attempts).as("at least every 15 minutes").isBetween(96, 110);
        assertThat(outbox.waiting()).singleElement().satisfies(waiting -> {
            assertThat(waiting.recipient()).isEqualTo("it");
            assertThat(waiting.messages()).isEqualTo(1);
            assertThat(waiting.error()).isEqualTo("the mail server does not answer");
        });
        evaluate();
        later(Duration.ofMinutes(15));
        assertThat(deliverAll())
                .as("in order, the end after the beginning")
                .extracting(Message::occasion)
                .containsExactly(Occasion.RAISED, Occasion.CLEARED);
        assertThat(outbox.waiting()).isEmpty();
    }

    @Test
    void whatIsRefusedForGoodIsGivenUpAndShown() {
        save("it", List.of(), null, null, null);
        evaluate(LATE);
        claimed().forEach(message -> outbox.failed(message, "550 no such user", true));
        later(Duration.ofDays(1));

        assertThat(deliverAll()).isEmpty();
        assertThat(outbox.waiting())
                .singleElement()
                .satisfies(waiting -> assertThat(waiting.error()).contains("550"));
        evaluate();
        assertThat(deliverAll())
                .as("who was told nothing, is not told that it is over")
                .isEmpty();
        later(Duration.ofDays(8));
        assertThat(outbox.waiting()).isEmpty();
    }

    @Test
    void aWeekLaterNobodyWantsToKnow() {
        save("it", List.of(), null, null, null);
        evaluate(LATE);
        later(Duration.ofDays(8));
        claimed().forEach(message -> outbox.failed(message, "away", false));
        later(Duration.ofDays(1));
        assertThat(deliverAll()).isEmpty();
    }

    @Test
    void aMessageIsClaimedByOneSenderAndAgainOnlyAfterItsDeath() {
        save("it", List.of(), null, null, null);
        evaluate(LATE);
        Message first = outbox.claim(Channel.MAIL).orElseThrow();
        assertThat(outbox.claim(Channel.MAIL)).isEmpty();
        assertThat(outbox.claim(Channel.WEBHOOK)).isEmpty();

        jdbc.sql("update alert_message set claimed_until = now() - interval '1 second'")
                .update();
        Message again = outbox.claim(Channel.MAIL).orElseThrow();
        assertThat(again.id()).isEqualTo(first.id());
        assertThat(again.attempts()).isEqualTo(2);
        outbox.sent(again);
        assertThat(deliverAll()).isEmpty();
    }

    @Test
    void aTestIsToldToItsRecipientOnly() {
        save("it", List.of(), null, null, null);
        outbox.test("it", "admin");
        outbox.test("it", "admin");

        assertThat(deliverAll()).hasSize(2).allMatch(message -> message.occasion() == Occasion.TEST);
        assertThatThrownBy(() -> outbox.test("nobody", "admin")).isInstanceOf(Refusal.class);
        assertThat(actions()).containsExactly("recipient.changed", "recipient.tested", "recipient.tested");
    }

    @Test
    void recipientsAreChangedAndRemovedWithALineInTheLedger() {
        Recipient before = save("it", List.of("P2", "P1", "P1"), 24, "22:00", "07:00");
        assertThat(recipients.find("it")).contains(before);
        assertThat(before.projects()).containsExactly("P1", "P2");
        transaction.executeWithoutResult(_ -> recipients.put(before, "admin"));
        assertThat(actions()).as("nothing changed the second time").hasSize(1);

        evaluate(LATE);
        assertThat(remove("it")).isTrue();
        assertThat(remove("it")).isFalse();
        assertThat(recipients.all()).isEmpty();
        assertThat(deliverAll()).isEmpty();
        assertThat(actions()).containsExactly("recipient.changed", "recipient.removed");
    }

    @Test
    void malformedRecipientsAreRefused() {
        assertRefused("name", () -> recipient("no name", "a@b.c", List.of(), "en", null, null, null));
        assertRefused("address", () -> recipient("it", "a b@c.d", List.of(), "en", null, null, null));
        assertRefused("address", () -> recipient("it", "a@b\r\nBcc: c@d", List.of(), "en", null, null, null));
        assertRefused(
                "address",
                () -> new Recipient(
                        "it",
                        Channel.WEBHOOK,
                        "https://chat.example.org/1",
                        List.of(),
                        "en",
                        null,
                        null,
                        null,
                        true,
                        false));
        assertRefused("language", () -> recipient("it", "a@b.c", List.of(), "fr", null, null, null));
        assertRefused("remindHours", () -> recipient("it", "a@b.c", List.of(), "en", 0, null, null));
        assertRefused("quietFrom", () -> recipient("it", "a@b.c", List.of(), "en", null, "22:00", null));
        assertRefused("quietFrom", () -> recipient("it", "a@b.c", List.of(), "en", null, "22:00", "22:00"));
        assertRefused("projects", () -> save("it", List.of("P9"), null, null, null));
        assertThat(recipients.all()).as("nothing of a refused one is kept").isEmpty();
    }

    private static void assertRefused(String field, org.assertj.core.api.ThrowableAssert.ThrowingCallable of) {
        assertThatThrownBy(of)
                .isInstanceOfSatisfying(
                        Refusal.class, refusal -> assertThat(refusal.field()).isEqualTo(field));
    }

    private List<String> actions() {
        return jdbc.sql("select action from ledger where action like 'recipient%' order by seq")
                .query(String.class)
                .list();
    }

    private void later(Duration time) {
        now = now.plus(time);
    }

    private Recipient save(
            String name,
            List<String> projects,
            @Nullable Integer hours,
            @Nullable String from,
            @Nullable String until) {
        Recipient recipient = recipient(name, name + "@example.org", projects, "en", hours, from, until);
        return transaction.execute(_ -> recipients.put(recipient, "admin"));
    }

    private static Recipient recipient(
            String name,
            String address,
            List<String> projects,
            String language,
            @Nullable Integer hours,
            @Nullable String from,
            @Nullable String until) {
        return new Recipient(
                name,
                Channel.MAIL,
                address,
                projects,
                language,
                hours,
                from == null ? null : LocalTime.parse(from),
                until == null ? null : LocalTime.parse(until),
                true,
                true);
    }

    private boolean remove(String name) {
        return Boolean.TRUE.equals(transaction.execute(_ -> recipients.remove(name, "admin")));
    }

    private Changed evaluate(Condition... conditions) {
        return transaction.execute(_ -> alerts.evaluate(List.of(conditions)));
    }

    private List<Message> claimed() {
        List<Message> claimed = new ArrayList<>();
        Optional<Message> next = outbox.claim(Channel.MAIL);
        while (next.isPresent()) {
            claimed.add(next.get());
            next = outbox.claim(Channel.MAIL);
        }
        return claimed;
    }

    private List<Message> deliverAll() {
        List<Message> delivered = new ArrayList<>();
        Optional<Message> next = outbox.claim(Channel.MAIL);
        while (next.isPresent()) {
            outbox.sent(next.get());
            delivered.add(next.get());
            next = outbox.claim(Channel.MAIL);
        }
        return delivered;
    }
}
