package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dozo.db.TestDatabase;
import dozo.plan.CostModel;
import dozo.plan.Measurement;
import dozo.plan.Work;
import dozo.run.CostModels.KeptModel;
import java.time.Instant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.simple.JdbcClient;

/** A measurement is stored with the model that follows from it; plans use the last model of their site. */
class CostModelsTest {

    private static final Instant NOW = Instant.parse("2026-10-01T12:00:00Z");
    private static final CostModel SLOW = new CostModel(30e6, 0.004);

    private final JdbcClient jdbc = JdbcClient.create(TestDatabase.fresh());
    private final CostModels models = new CostModels(jdbc, () -> NOW);

    @BeforeEach
    void makeTwoSitesAndARun() {
        jdbc.sql("""
                insert into site (name, host, port, login, root, host_key, identity_file, updated_at)
                values ('near', 'near.example', 22, 'dozo', '/dr', 'ssh-ed25519 AAAA', '/key', now()),
                       ('far', 'far.example', 22, 'dozo', '/dr', 'ssh-ed25519 AAAA', '/key', now());
                insert into run (kind, site_id, state, requested_by, started_at)
                values ('nightlyBackup', 1, 'RUNNING', 'test', now());
                """).update();
    }

    @Test
    void theDefaultServesUntilSomethingWasMeasured() {
        assertThat(models.of(1)).isEqualTo(CostModel.DEFAULT);
        assertThat(models.kept(1)).isEmpty();
    }

    @Test
    void aMeasurementIsKeptWithWhenAndOfWhat() {
        CostModel learnt = models.learn(1, 1, took(new Work(1_000_000_000, 1_000)));

        assertThat(models.kept(1)).contains(new KeptModel(learnt, 1, NOW, 1));
        assertThat(learnt.seconds(new Work(1_000_000_000, 1_000)))
                .isCloseTo(SLOW.seconds(new Work(1_000_000_000, 1_000)), within(1e-6));
        assertThat(jdbc.sql("select bytes || ' ' || entries || ' ' || lanes from cost_model")
                        .query(String.class)
                        .list())
                .containsExactly("1000000000 1000 4");
    }

    @Test
    void eachSiteHasItsOwn() {
        models.learn(1, 2, took(new Work(1_000_000_000, 1_000)));

        assertThat(models.of(1)).isEqualTo(CostModel.DEFAULT);
        assertThat(models.of(2)).isNotEqualTo(CostModel.DEFAULT);
    }

    @Test
    void onlyTheLatestThirtyCount() {
        for (int i = 0; i < 3; i++) {
            models.learn(1, 1, new Measurement(new Work(1_000_000_000, 1_000), 4, 10_000));
        }
        for (int i = 0; i < 30; i++) {
            models.learn(1, 1, took(new Work(1_000_000_000, 1_000)));
        }

        assertThat(models.kept(1).orElseThrow().measurements()).isEqualTo(30);
        assertThat(models.of(1).seconds(new Work(1_000_000_000, 1_000)))
                .isCloseTo(SLOW.seconds(new Work(1_000_000_000, 1_000)), within(1e-6));
    }

    @Test
    void onlySendingTellsWhatSendingCosts() {
        assertThat(SendingWatch.tells(1_000, 10, 1_050, 4)).isTrue();
        assertThat(SendingWatch.tells(0, 10, 0, 4)).as("folders and links").isTrue();
        assertThat(SendingWatch.tells(1_000, 10, 300, 4))
                .as("found at the site")
                .isFalse();
        assertThat(SendingWatch.tells(1_000, 10, 1_900, 4)).as("sent twice").isFalse();
        assertThat(SendingWatch.tells(0, 0, 0, 4)).as("nothing").isFalse();
        assertThat(SendingWatch.tells(1_000, 10, 1_000, 0)).as("no engine").isFalse();
    }

    private static Measurement took(Work work) {
        return new Measurement(work, 4, SLOW.seconds(work) / 4);
    }
}
