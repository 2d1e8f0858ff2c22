package dozo.start;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.zaxxer.hikari.HikariDataSource;
import dozo.db.ActiveService;
import dozo.db.LostDatabase;
import dozo.db.TestDatabase;
import dozo.file.Build;
import dozo.remote.ChildProcess;
import dozo.run.Equipment;
import dozo.run.Services;
import dozo.run.Services.SeenService;
import dozo.run.Services.SeenWorker;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** One service has the lease. Whoever takes it over ends everything that the former one has open in the database. */
class LeaseTest {

    private static final Duration LENGTH = Duration.ofSeconds(30);

    private final HikariDataSource pool = TestDatabase.fresh();
    private final List<Lease> leases = new ArrayList<>();
    private final JdbcClient jdbc = JdbcClient.create(pool);

    @AfterEach
    void close() {
        leases.forEach(Lease::close);
    }

    @Test
    void theFirstIsActiveAndTheNextStandsBy() throws Exception {
        ActiveService one = begun("one");
        ActiveService two = begun("two");

        assertThat(one.isHere()).isTrue();
        assertThat(one.isSure()).isTrue();
        assertThat(two.isHere()).isFalse();
        assertThat(two.isSure()).isFalse();
        assertThat(two.holder()).isEqualTo(one.holder());
        keep();
        assertThat(two.isHere()).isFalse();
    }

    @Test
    void aLeaseThatIsGivenBackIsTakenAtOnce() throws Exception {
        begun("one");
        ActiveService two = begun("two");

        leases.getFirst().close();
        leases.getLast().keep();

        assertThat(two.isHere()).isTrue();
        assertThat(two.holder().term()).isEqualTo(2);
    }

    @Test
    void aTakeoverEndsTheSessionsOfTheFormerWithTheirTransactions() throws Exception {
        ActiveService one = begun("one");
        ActiveService two = begun("two");
        try (Connection idle = session(1);
                Connection writing = session(1)) {
            writing.setAutoCommit(false);
            insertProject(writing);

            expire();
            leases.getLast().keep();

            assertThat(two.isHere()).isTrue();
            assertThat(idle.isValid(5)).isFalse();
            assertThatThrownBy(writing::commit).matches(LostDatabase::isBehind);
        }
        assertThat(jdbc.sql("select count(*) from project").query(Long.class).single())
                .isZero();
        assertThatThrownBy(() -> session(1)).matches(LostDatabase::isBehind).hasMessageContaining("term 1 has ended");
        session(2).close();
        assertThat(leases.getFirst().holds()).isFalse();
        assertThatThrownBy(leases.getFirst()::reopen)
                .isInstanceOf(StartFailure.class)
                .hasMessageContaining("the service two has taken over");
        assertThat(one.isLost()).isTrue();
        assertThat(one.isSure()).isFalse();
        assertThat(one.holder()).isEqualTo(two.holder());
    }

    /** Its session may survive, if the successor may not end it. */
    @Test
    void theFormerNoticesAtItsNextRenewal() throws Exception {
        ActiveService one = begun("one");
        jdbc.sql("update service_lease set term = term + 1, name = 'two', lease_until = now() + interval '1 hour'")
                .update();

        leases.getFirst().renewNow();
        assertThatThrownBy(leases.getFirst()::keep).isInstanceOf(StartFailure.class);

        assertThat(one.isLost()).isTrue();
    }

    @Test
    void aServiceWhoseConnectionWasCutKeepsItsTerm() throws Exception {
        ActiveService one = begun("one");
        begun("two");
        jdbc.sql("""
                        select pg_terminate_backend(pid, 5000) from pg_locks
                        where locktype = 'advisory' and classid = 2081
                          and database = (select oid from pg_database where datname = current_database())
                        """).query().listOfRows();

        assertThat(leases.getFirst().holds()).isFalse();
        leases.getFirst().reopen();
        leases.getLast().keep();

        assertThat(one.isHere()).isTrue();
        assertThat(leases.getFirst().term()).isEqualTo(1);
        assertThat(leases.getLast().term()).isZero();
    }

    /** It ends only when it goes on, and holds the lock until then. */
    @Test
    void aServiceWhoseServerProcessIsStoppedWaitsForItsEnd() throws Exception {
        ActiveService one = begun("one");
        ProcessHandle session =
                ProcessHandle.of(jdbc.sql("""
                        select pid from pg_locks
                        where locktype = 'advisory' and objsubid = 1
                          and (classid::bigint << 32) | objid::bigint = hashtext('dozo.service')
                          and database = (select oid from pg_database where datname = current_database())
                        """).query(Long.class).single()).orElseThrow();
        assumeTrue(session.info().command().orElse("").endsWith("postgres"), "the server is on another machine");
        ChildProcess.signal(session, "STOP");
        try {
            assertThat(leases.getFirst().holds()).isFalse();
            assertThatThrownBy(leases.getFirst()::reopen)
                    .isInstanceOf(SQLException.class)
                    .hasMessageContaining("the former session of this service has not ended yet");
        } finally {
            ChildProcess.signal(session, "CONT");
        }
        leases.getFirst().reopen();

        assertThat(one.isHere()).isTrue();
        assertThat(one.isLost()).isFalse();
        assertThat(leases.getFirst().term()).isEqualTo(1);
    }

    @Test
    void aServiceWhoseLockAnotherProgramHasTakenEnds() throws Exception {
        begun("one");
        end();
        try (Connection other = login().getConnection();
                Statement lock = other.createStatement()) {
            lock.execute("select pg_advisory_lock(hashtext('dozo.service'))");

            assertThatThrownBy(leases.getFirst()::reopen)
                    .isInstanceOf(StartFailure.class)
                    .hasMessageContaining("another Dozo service uses this database");
        }
    }

    @Test
    void aServiceThatWasKilledIsActiveAgainAtOnce() throws Exception {
        begun("one");
        end();

        assertThat(begun("one").isHere()).isTrue();
        assertThat(leases.getLast().term()).isEqualTo(2);
    }

    @Test
    void aNameIsUsedOnce() throws Exception {
        begun("one");
        Lease again = lease("one", new ActiveService("one", true));

        assertThat(again.begin(Role.SERVICE))
                .as("it may be a former process, whose lease expires")
                .isFalse();
        leases.getFirst().renewNow();
        leases.getFirst().keep();

        assertThatThrownBy(() -> again.begin(Role.SERVICE))
                .isInstanceOf(StartFailure.class)
                .hasMessageContaining("DOZO_SERVICE_NAME");
    }

    @Test
    void aCommandIsRefusedAndDoesNotStandBy() throws Exception {
        begun("one");

        assertThatThrownBy(() -> lease("two", new ActiveService("two", true)).begin(Role.COMMAND))
                .isInstanceOf(StartFailure.class)
                .hasMessageContaining("another Dozo service uses this database");
    }

    /** As an earlier version does, and a command for a moment. */
    @Test
    void nobodyTakesOverWhileAnotherProgramHasTheLock() throws Exception {
        begun("one");
        ActiveService two = begun("two");
        end();
        expire();
        try (Connection other = login().getConnection();
                Statement lock = other.createStatement()) {
            lock.execute("select pg_advisory_lock(hashtext('dozo.service'))");
            leases.getLast().keep();
            assertThat(two.isHere()).isFalse();
        }
        leases.getLast().keep();

        assertThat(two.isHere()).isTrue();
    }

    @Test
    void aServiceWithAnotherSchemaDoesNotStandBy() throws Exception {
        begun("one");
        ActiveService two = begun("two");
        upgradeLater();

        assertThatThrownBy(leases.getLast()::keep)
                .isInstanceOf(StartFailure.class)
                .hasMessageContaining("later version of Dozo");
        assertThat(lease("three", new ActiveService("three", true)).begin(Role.SERVICE))
                .isFalse();
        assertThat(two.isHere()).isFalse();
        assertThat(Lease.undecided()).hasMessageContaining("another version");
    }

    /** As of an earlier version, which knows no length. */
    @Test
    void theLengthIsThatOfTheActiveServiceAlsoAfterAnUpgrade() throws Exception {
        jdbc.sql("drop schema public cascade; drop schema audit cascade; create schema public")
                .update();
        Flyway.configure().dataSource(pool).target("202611270103").load().migrate();
        Duration minute = Duration.ofMinutes(1);
        begun("one", minute);
        assertThat(length()).isEqualTo(minute);

        begun("two", LENGTH);
        assertThat(length()).as("it stands by").isEqualTo(minute);
        leases.getFirst().close();
        leases.getLast().keep();

        assertThat(length()).isEqualTo(LENGTH);
        assertThat(jdbc.sql("select lease_until - began_at = interval '30 s' from service_lease")
                        .query(Boolean.class)
                        .single())
                .isTrue();
    }

    /** Returns the length that workers use. */
    private Duration length() {
        return Duration.ofMillis(jdbc.sql("select lease_millis from service_lease")
                .query(Long.class)
                .single());
    }

    @Test
    void aLaterSchemaIsRefused() {
        upgradeLater();

        assertThatThrownBy(() -> begun("one"))
                .isInstanceOf(StartFailure.class)
                .hasMessageMatching(
                        "a later version of Dozo has upgraded the database: it has schema 209901010000, this program has \\d{12}\\. Nothing was changed.*");
    }

    /** As after a migration was edited: this program does not know how to go on from there. */
    @Test
    void aSchemaThatThisProgramCannotUpgradeIsRefusedAndNotChanged() {
        jdbc.sql("""
                        update flyway_schema_history set checksum = checksum + 1
                        where installed_rank = (select max(installed_rank) from flyway_schema_history)
                        """).update();
        List<String> before = history();

        assertThatThrownBy(() -> begun("one"))
                .isInstanceOf(StartFailure.class)
                .hasMessageMatching(
                        "the database has schema (\\d{12}) of another version of Dozo, which this program, with schema \\1, cannot upgrade\\. Nothing was changed; install the version that used it last");

        assertThat(history()).isEqualTo(before);
    }

    private List<String> history() {
        return jdbc.sql("select h::text from flyway_schema_history h order by installed_rank")
                .query(String.class)
                .list();
    }

    @Test
    void anEmptyDatabaseGetsItsSchemaFromTheActiveService() throws Exception {
        DataSource empty = login(TestDatabase.empty());
        ActiveService first = new ActiveService("one", true);
        try (Lease lease = new Lease(empty, "", new Schema(empty), first, LENGTH)) {
            assertThat(lease.begin(Role.SERVICE)).isTrue();
            assertThat(first.isHere()).isTrue();
            assertThat(new Schema(empty).isCurrent()).isTrue();
        }
    }

    @Test
    void peopleSeeWhoIsActiveAndWhoStandsBy() throws Exception {
        begun("one");
        begun("two");
        keep();

        assertSeen("one ACTIVE", "two STANDS_BY");
        assertThat(missing()).isEmpty();

        leases.getLast().close();
        assertSeen("one ACTIVE", "two STOPPED");
        assertThat(missing()).containsExactly("two");
    }

    @Test
    void peopleSeeThatTheFormerServiceIsAway() throws Exception {
        begun("one");
        begun("two");
        keep();
        expire();
        leases.getLast().keep();
        jdbc.sql("update service_seen set seen_at = now() - interval '1 minute' where name = 'one'")
                .update();

        assertSeen("one AWAY", "two ACTIVE");
        assertThat(missing()).containsExactly("one");

        expire();
        assertSeen("one AWAY", "two AWAY");
    }

    @Test
    void workersLeaveSignsAndAreNoServices() throws Exception {
        begun("one");
        Lease worker = lease("one", new ActiveService("one", true));
        assertThat(worker.begin(Role.WORKER)).isTrue();
        keep();
        assertSeen("one ACTIVE");
        assertThat(new Services(jdbc).workers())
                .extracting(SeenWorker::name, SeenWorker::version)
                .containsExactly(tuple("one", Build.VERSION));

        // As after 7 days without the database.
        worker.equip(new Equipment("1", new TreeMap<>(), new TreeMap<>()));
        keep();
        jdbc.sql("delete from service_seen").update();
        await().atMost(Duration.ofMinutes(1)).until(() -> {
            keep();
            return jdbc.sql("select count(equipment) from service_seen where process = :process")
                            .param("process", ProcessHandle.current().pid())
                            .query(Long.class)
                            .single()
                    == 1;
        });

        worker.close();
        assertThat(new Services(jdbc).workers()).isEmpty();
        assertSeen("one ACTIVE");
    }

    @Test
    void aServiceThatWasRemovedIsForgotten() throws Exception {
        begun("one");
        begun("two");
        keep();
        jdbc.sql("update service_seen set seen_at = now() - interval '8 days' where name = 'two'")
                .update();

        leases.getFirst().close();

        assertSeen("one STOPPED");
    }

    @Test
    void commandsAndEmbeddedDatabasesLeaveNoSign() throws Exception {
        Lease embedded = lease("one", new ActiveService("one", false));
        assertThat(embedded.begin(Role.SERVICE)).isTrue();
        embedded.keep();
        embedded.close();
        Lease command = lease("one", new ActiveService("one", true));
        assertThat(command.begin(Role.COMMAND)).isTrue();
        command.keep();

        assertSeen();
    }

    /** As a later version does. */
    private void upgradeLater() {
        jdbc.sql("""
                        insert into flyway_schema_history
                        select installed_rank + 1, '209901010000', 'later', type, script, checksum, installed_by, installed_on, execution_time, true
                        from flyway_schema_history order by installed_rank desc limit 1
                        """).update();
    }

    private void assertSeen(String... services) {
        assertThat(new Services(jdbc).all())
                .extracting(each -> each.name() + " " + each.state())
                .containsExactly(services);
    }

    private List<String> missing() {
        return Services.missing(new Services(jdbc).all()).stream()
                .map(SeenService::name)
                .toList();
    }

    private ActiveService begun(String name) throws SQLException {
        return begun(name, LENGTH);
    }

    private ActiveService begun(String name, Duration length) throws SQLException {
        ActiveService active = new ActiveService(name, true);
        assertThat(lease(name, active, length).begin(Role.SERVICE)).isTrue();
        return active;
    }

    private Lease lease(String name, ActiveService active) {
        return lease(name, active, LENGTH);
    }

    private Lease lease(String name, ActiveService active, Duration length) {
        Lease lease = new Lease(login(), "https://" + name + ".example.org", new Schema(pool), active, length);
        leases.add(lease);
        return lease;
    }

    private void keep() throws SQLException {
        for (Lease lease : leases) {
            lease.keep();
        }
    }

    private void expire() {
        jdbc.sql("update service_lease set lease_until = now() - interval '1 s'")
                .update();
    }

    /** Ends the sessions of the active service, as the system does when it is killed. */
    private void end() {
        jdbc.sql("select end_terms_before(2147483647)").query().listOfRows();
    }

    private Connection session(int term) throws SQLException {
        Connection session = login().getConnection();
        try {
            LeaseTable.enter(session, term);
            return session;
        } catch (SQLException e) {
            session.close();
            throw e;
        }
    }

    private static void insertProject(Connection session) throws SQLException {
        try (Statement statement = session.createStatement()) {
            statement.execute("insert into project (code, created_at) values ('P1', now())");
        }
    }

    private DataSource login() {
        return login(pool);
    }

    private static DataSource login(HikariDataSource pool) {
        return new DriverManagerDataSource(
                String.valueOf(pool.getJdbcUrl()),
                String.valueOf(pool.getUsername()),
                String.valueOf(pool.getPassword()));
    }
}
