package dozo.people;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.db.Race;
import dozo.db.TestDatabase;
import dozo.ledger.Ledger;
import dozo.ledger.Ledger.LedgerEntry;
import dozo.people.Departures.Duty;
import dozo.people.Departures.Kind;
import dozo.people.Users.Realm;
import dozo.registry.Refusal;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.security.crypto.bcrypt.BCryptPasswordEncoder;

/** A user leaves, and nothing that depends on the user is forgotten. */
class DeparturesTest {

    private static final InstantSource CLOCK = InstantSource.system();

    private final DataSource database = TestDatabase.fresh();
    private final JdbcClient jdbc = JdbcClient.create(database);
    private final Ledger ledger = new Ledger(jdbc, CLOCK);
    private final Users users = new Users(jdbc, ledger, new BCryptPasswordEncoder(4), CLOCK);
    private final Tokens tokens = new Tokens(jdbc, users, ledger, CLOCK);
    private final Departures departures = new Departures(jdbc, users, tokens, ledger, CLOCK);

    @BeforeEach
    void create() {
        for (String name : List.of("jane", "ken", "mari", "taro")) {
            users.create(name, "a password for tests", Set.of(Role.LAB_MANAGER), "test");
        }
        jdbc.sql("insert into project (code, created_at) values ('P1', now()), ('P2', now())")
                .update();
        users.join("P1", "jane", "test");
    }

    @Test
    void allKindsOfDutiesAreListed() {
        users.join("P2", "jane", "test");
        users.join("P2", "ken", "test");
        tokens.create("jane", "nightly", null, true, 7);
        recipient("it", "Jane@example.org");
        recipient("others", "janet@example.org");
        jdbc.sql("""
                        insert into experiment (project_id, code, source_kind, source_root, registered_at, registered_by)
                        select project_id, 'E1', 'filesystem', '/x', now(), 'jane' from project where code = 'P1'
                        """).update();
        jdbc.sql("""
                        insert into hold (project_id, reason, placed_by, placed_at, until)
                        select project_id, 'why', 'jane', now() - interval '2 days', until from project,
                               (values (null::timestamptz), (now() - interval '1 day')) as ended (until) where code = 'P1'
                        """).update();
        jdbc.sql("""
                        insert into erasure (project_id, code, experiment_id, registered_at, reason, requested_by, requested_at)
                        select project_id, code, experiment_id, registered_at, 'why', 'jane', now() from experiment
                        """).update();
        jdbc.sql("""
                        insert into site (name, host, port, login, root, host_key, identity_file, updated_at)
                        values ('dr', 'h', 22, 'u', '/x', 'k', '/k', now())
                        """).update();
        jdbc.sql("""
                        insert into run (kind, site_id, state, requested_by, started_at, paused_by, paused_at)
                        select 'nightlyBackup', site_id, 'PAUSED', 'dozo', now(), 'jane', now() from site
                        """).update();

        assertThat(departures.duties("jane"))
                .extracting(duty -> duty.kind() + " " + duty.subject() + " " + duty.detail())
                .containsExactly(
                        "ERASURE 1 P1/E1",
                        "HOLD 1 P1",
                        "PROJECT P1 ",
                        "RECIPIENT it Jane@example.org",
                        "RUN 1 paused",
                        "TOKEN nightly read");
        assertThat(departures.duties("taro")).isEmpty();
        assertThat(departures.duties("nobody")).isEmpty();
        assertThat(Departures.left(jdbc, Instant.now()))
                .as("jane is still here")
                .isEmpty();
    }

    @Test
    void whatWasHerOwnIsHandedOverAtOnce() {
        tokens.create("jane", "nightly", null, false, 7);
        recipient("it", "jane@example.org");

        List<Duty> before =
                departures.leave("jane", "ken", "ken@example.org", "boss").orElseThrow();

        assertThat(before).extracting(Duty::kind).containsExactly(Kind.PROJECT, Kind.RECIPIENT, Kind.TOKEN);
        assertThat(departures.duties("jane")).isEmpty();
        assertThat(departures.duties("ken")).extracting(Duty::subject).containsExactly("P1", "it");
        assertThat(users.find("jane").orElseThrow().active()).isFalse();
        List<LedgerEntry> told = ledger.after(0, 100);
        assertThat(told)
                .extracting(LedgerEntry::action)
                .endsWith("project.joined", "recipient.changed", "token.revoked", "user.changed", "user.left");
        assertThat(told).noneMatch(row -> row.detail().contains("@example.org"));
        assertThat(told.getLast().detail()).contains("\"to\": \"ken\"", "P1", "it", "nightly");
    }

    /** What came since, for example for a user of a directory who was away already. */
    @Test
    void aUserWhoHasLeftCanHandOverAgain() {
        users.change("jane", null, true, null, "test");
        recipient("it", "jane@example.org");
        recipient("lab", "ken@example.org");
        assertThat(Departures.left(jdbc, Instant.now()))
                .extracting(Duty::user, Duty::kind)
                .containsExactly(
                        org.assertj.core.api.Assertions.tuple("jane", Kind.PROJECT),
                        org.assertj.core.api.Assertions.tuple("jane", Kind.RECIPIENT));

        departures.leave("jane", "ken", null, "boss").orElseThrow();

        assertThat(Departures.left(jdbc, Instant.now())).isEmpty();
        assertThat(jdbc.sql("select address from recipient where name = 'it'")
                        .query(String.class)
                        .single())
                .as("that of the other user's recipient")
                .isEqualTo("ken@example.org");
    }

    @Test
    void aUserOfADirectoryIsGoneThereAndHandsOverHere() {
        users.confirm("hana", Realm.DIRECTORY, null, Set.of(Role.LAB_MANAGER), Set.of("P2"));
        users.gone("hana");
        assertThat(Departures.left(jdbc, Instant.now()))
                .extracting(Duty::subject)
                .containsExactly("P2");

        departures.leave("hana", "ken", null, "boss").orElseThrow();

        assertThat(Departures.left(jdbc, Instant.now())).isEmpty();
        assertThat(users.find("ken").orElseThrow().projects()).containsExactly("P2");
    }

    @Test
    void whatCannotBeHandedOverIsRefusedAndNothingChanges() {
        recipient("it", "jane@example.org");
        users.create("auditor", "a password for tests", Set.of(Role.AUDITOR), "test");
        users.change("taro", null, true, null, "test");
        long last = ledger.last();

        for (String to : List.of("nobody", "jane", "taro")) {
            assertThatThrownBy(() -> departures.leave("jane", to, "x@example.org", "boss"))
                    .isInstanceOf(Refusal.class)
                    .hasMessageContaining("expected another user who can log in");
        }
        assertThatThrownBy(() -> departures.leave("jane", "auditor", "x@example.org", "boss"))
                .hasMessageContaining("auditor is not a lab manager, and these projects have no other one: [P1]");
        assertThatThrownBy(() -> Race.behind(database, () -> 1, () -> departures.leave("jane", "ken", null, "boss"))
                        .get())
                .hasMessageContaining("recipient it has the address jane@example.org");
        assertThat(departures.leave("nobody", "ken", null, "boss")).isEmpty();
        assertThat(ledger.last()).isEqualTo(last);
        assertThat(users.find("jane").orElseThrow().active()).isTrue();
    }

    @Test
    void theEmergencyLoginStays() {
        users.keepAdministrator("a password for tests");
        assertThatThrownBy(() -> departures.leave("admin", "ken", null, "boss"))
                .isInstanceOf(Refusal.class)
                .hasMessageContaining("cannot be disabled");
    }

    @Test
    void ofTwoManagersWhoLeaveAtTheSameTimeTheSecondHandsTheProjectOver() throws Exception {
        users.join("P1", "mari", "test");

        List<Duty> second = Race.behind(
                        database,
                        () -> departures.leave("jane", "ken", null, "boss"),
                        () -> departures.leave("mari", "taro", null, "boss"))
                .get()
                .orElseThrow();

        assertThat(second).extracting(Duty::subject).containsExactly("P1");
        assertThat(users.find("taro").orElseThrow().projects()).containsExactly("P1");
    }

    private void recipient(String name, String address) {
        jdbc.sql(
                        "insert into recipient (name, channel, address, language, active, morning_report) values (:name, 'mail', :address, 'en', true, true)")
                .param("name", name)
                .param("address", address)
                .update();
    }
}
