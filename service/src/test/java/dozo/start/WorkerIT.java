package dozo.start;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dozo.broker.RabbitBroker;
import dozo.db.Campaign;
import dozo.remote.ChildProcess;
import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Real worker processes with a real broker: they share a night, and it ends whole whatever happens to them (ADR 0080). */
class WorkerIT extends NightOfProcesses {

    /** Rounds of what can happen in one night. */
    private static final int ROUNDS = Campaign.times(1);

    private RabbitBroker broker;

    WorkerIT() {
        super(12, 75 * ROUNDS);
    }

    @BeforeEach
    void start() throws Exception {
        broker = RabbitBroker.running();
        settings.put("DOZO_BROKER_URL", broker.url());
        settings.put("DOZO_INGEST_LOOKS", "1");
    }

    @Tag(Campaign.TAG)
    @Test
    void aNightEndsWholeWhateverHappensToItsWorkers() throws Exception {
        settings.put("DOZO_LEASE", "5s");
        worker("one");
        worker("two");
        awaitSaid("one", "waits for work");
        awaitSaid("two", "waits for work");
        serve();
        awaitWorkers(2);
        int lost = 0;
        for (int round = 1; round <= ROUNDS; round++) {
            awaitUnits(units() + 1 + random.nextInt(3));
            long replaced = replaced();
            kill("one");
            worker("one");
            awaitReplaced("one", replaced + 1);
            lost++;
            awaitUnits(units() + 1 + random.nextInt(3));
            broker.kill();
            awaitUnits(units() + 1);
            ChildProcess.signal(process("two").toHandle(), "STOP");
            awaitReplaced("two", replaced + 2);
            ChildProcess.signal(process("two").toHandle(), "CONT");
            lost++;
            awaitSaid("two", "others have taken over the work of worker", round);
            broker.restart();
            awaitUnits(units() + 1);
            kill("service");
            serve();
            lost++;
            awaitUnits(units() + 1);
        }

        assertEndsWhole(ROUNDS, (long) lost * IN_FLIGHT_MAX);
        System.out.printf(
                "%d kills and %d hangs of workers, %d deaths of the broker, %d of the service, one night%n",
                ROUNDS, ROUNDS, ROUNDS, ROUNDS);
    }

    @Test
    void aWorkerThatDoesNotSeeASourceLeavesItToTheService() throws Exception {
        String hide = "mount -t tmpfs none %s && exec \"$@\"".formatted(source(0));
        worker("one", "unshare", "--mount", "sh", "-c", hide, "sh");
        awaitSaid("one", "waits for work");
        serve();
        await().atMost(LIMIT)
                .until(() -> count("select coalesce(sum(entries_proven), 0) from run_worker where joined") > 0);

        assertEndsWhole(0, 0);
        assertThat(count("select count(*) from finding")).isZero();
        awaitSaid("one", "left run");
    }

    @Test
    void aWorkerThatIsStoppedFinishesItsUnitsAndLeaves() throws Exception {
        worker("one");
        awaitSaid("one", "waits for work");
        serve();
        awaitWorkers(1);
        awaitUnits(1);

        stop("one");
        awaitWorkers(0);
        assertEndsWhole(0, 0);
    }

    @Test
    void whatAWorkerLacksIsToldInOneSentence() throws Exception {
        String url = settings.remove("DOZO_DB_URL");
        String user = settings.remove("DOZO_DB_USER");
        String password = settings.remove("DOZO_DB_PASSWORD");
        assertThat(worker("alone").waitFor()).isEqualTo(StartFailure.CONFIGURATION);
        assertThat(said("alone"))
                .contains("dozo: dozo.db.url (DOZO_DB_URL) is missing: a worker needs the database of its service");

        jdbc.sql(
                        "update flyway_schema_history set version = '1' where version = (select max(version) from flyway_schema_history)")
                .update();
        settings.putAll(Map.of(
                "DOZO_DB_URL", url, "DOZO_DB_USER", user, "DOZO_DB_PASSWORD", password, "DOZO_DB_START_WAIT", "1s"));
        assertThat(worker("misfit").waitFor()).isEqualTo(StartFailure.UNAVAILABLE);
        assertThat(said("misfit"))
                .contains("one of another version or with another DOZO_DB_USER: start the service first");
    }

    private void serve() throws IOException {
        serve("service", Map.of());
        awaitSaid("service", "Dozo listens at");
    }

    private void awaitWorkers(int number) {
        awaitCount(number + " workers", "select count(*) from run_worker where joined and not ended", number);
    }

    /** Waits until others have taken over from so many workers. */
    private void awaitReplaced(String name, long number) {
        awaitCount(name + " was replaced", "select count(*) from run_worker where joined and ended", number);
    }

    private long replaced() {
        return count("select count(*) from run_worker where joined and ended");
    }
}
