package dozo.people;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.db.Race;
import dozo.db.TestDatabase;
import dozo.ledger.Ledger;
import dozo.ledger.Ledger.LedgerEntry;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.security.crypto.bcrypt.BCryptPasswordEncoder;

/** The ledger tells each change of a user once, also if two persons change the user at the same time. */
class UsersTest {

    private static final InstantSource CLOCK = InstantSource.system();

    private final DataSource database = TestDatabase.fresh();
    private final JdbcClient jdbc = JdbcClient.create(database);
    private final Ledger ledger = new Ledger(jdbc, CLOCK);
    private final Users users = new Users(jdbc, ledger, new BCryptPasswordEncoder(4), CLOCK);

    @BeforeEach
    void create() {
        users.create("hanako", "a password for tests", Set.of(Role.AUDITOR), "test");
    }

    @Test
    void theLedgersBeforeIsWhatAChangeReplaces() throws Exception {
        Race.behind(database, () -> change(Role.OPERATOR), () -> change(Role.LAB_MANAGER))
                .get();

        assertThat(changes()).hasSize(2);
        assertThat(changes().getLast()).contains("OPERATOR", "LAB_MANAGER").doesNotContain("AUDITOR");
    }

    @Test
    void aChangeThatAnotherHasMadeAlreadyIsNotToldAgain() throws Exception {
        Race.behind(database, () -> change(Role.OPERATOR), () -> change(Role.OPERATOR))
                .get();

        assertThat(changes()).hasSize(1);
    }

    @Test
    void aChangeThatUndoesAnotherIsTold() throws Exception {
        Race.behind(database, () -> change(Role.OPERATOR), () -> change(Role.AUDITOR))
                .get();

        assertThat(changes()).hasSize(2);
    }

    private Optional<Users.User> change(Role role) {
        return users.change("hanako", Set.of(role), null, null, "test");
    }

    private List<String> changes() {
        return ledger.after(0, 100).stream()
                .filter(entry -> entry.action().equals("user.changed"))
                .map(LedgerEntry::detail)
                .toList();
    }
}
