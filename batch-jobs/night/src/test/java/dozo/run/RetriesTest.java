package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.db.Race;
import dozo.db.TestDatabase;
import dozo.ledger.Ledger;
import dozo.registry.Experiments;
import dozo.registry.Projects;
import dozo.registry.RegisteredRows;
import java.time.InstantSource;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.simple.JdbcClient;

/** What is found in the source of an experiment that was retired meanwhile is not sealed. */
class RetriesTest {

    private final DataSource database = TestDatabase.fresh();
    private final JdbcClient jdbc = JdbcClient.create(database);
    private final Ledger ledger = new Ledger(jdbc, InstantSource.system());
    private final Retries retries = new Retries(
            jdbc,
            new Experiments(jdbc, new Projects(jdbc, ledger, InstantSource.system()), ledger, InstantSource.system()));

    @Test
    void anExperimentThatIsRetiredMeanwhileIsNotKept() throws Exception {
        RegisteredRows.insert(jdbc);
        assertThat(retries.keepLiving(1)).containsExactly(1);

        assertThat(Race.behind(
                                database,
                                () -> jdbc.sql(
                                                "update experiment set retired_at = now(), retired_by = 'x', retired_reason = 'x'")
                                        .update(),
                                () -> retries.keepLiving(1))
                        .get())
                .isEmpty();
    }
}
