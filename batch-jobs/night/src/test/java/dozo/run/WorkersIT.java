package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.ledger.Ledger;
import dozo.ledger.Ledger.LedgerEntry;
import dozo.registry.Refusal;
import dozo.registry.SiteTimetables;
import dozo.remote.RemoteException;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunState;
import dozo.transfer.OfferedLooks;
import dozo.transfer.OfferedLooks.Offer;
import dozo.transfer.RunWorkers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.batch.core.job.JobExecution;
import org.springframework.batch.core.job.JobExecutionException;
import org.springframework.batch.core.job.JobInstance;
import org.springframework.batch.core.job.parameters.JobParameters;

/** Worker processes share the service's runs (ADR 0080). Here both are in one process, with the same database. */
class WorkersIT extends NightAtSite {

    private static final int EXPERIMENTS = 40;
    private static final int FILES = 5;

    private Night helper;

    WorkersIT() {
        super("dozo.ingest.looks=1", "dozo.transfer.partitions=1", "dozo.transfer.chunk=1", "dozo.transfer.outage=1m");
    }

    @BeforeEach
    void openWorker() {
        helper = Night.worker(database, "dozo.transfer.partitions=2", "dozo.transfer.outage=1m");
    }

    @AfterEach
    void closeWorker() {
        helper.close();
    }

    private Path experiment(String code) throws Exception {
        Path folder = Files.createDirectory(source.resolve(code));
        Map<String, String> files = new HashMap<>();
        for (int i = 0; i < FILES; i++) {
            files.put("f" + i, (code + i).repeat(2_000));
        }
        Night.write(folder, files);
        night.register(code, folder);
        return folder;
    }

    /** Opens a run that the service leads, but of which it does nothing by itself. */
    private Run opened() {
        Run run = night.open();
        var _ = flow(run);
        return run;
    }

    private NightFlow flow(Run run) {
        return night.get(NightFlows.class).of(run.id(), run.siteId());
    }

    private NightFlow joined(Run run) {
        return helper.get(NightFlows.class).of(run.id(), run.siteId());
    }

    /** Returns how much worker processes have done in a step. */
    private long shared(String step) {
        return night.count("""
                select coalesce(sum(s.write_count), 0) from batch_step_execution s
                join batch_job_execution e using (job_execution_id) join batch_job_instance i using (job_instance_id)
                where i.job_name = 'nightlyShare' and s.step_name like '%s%%'
                """.formatted(step));
    }

    /** NB: the service begins its own work when the worker is there, because it is done with this little at once. */
    @Test
    void aWorkerLooksSendsAndSettlesWithTheService() throws Exception {
        for (int i = 0; i < EXPERIMENTS; i++) {
            experiment("S" + i);
        }
        night.get(SiteTimetables.class).set("dr", List.of("daily 00:00-24:00 1MB/s"), "test");
        Run run = opened();
        NightFlow flow = flow(run);
        Thread working = inBackground(() -> helper.get(Worker.class).work());
        Night.until(() -> flow.others().alive() == 1);

        List<Thread> flows = List.of(
                inBackground(() -> night.get(Looking.class).look(flow)),
                inBackground(() -> night.get(Sending.class).send(flow, 0)),
                inBackground(() -> night.get(Settling.class).settle(flow)));
        for (Thread each : flows) {
            each.join();
        }
        Night.until(() -> flow.others().alive() == 0);
        helper.get(Worker.class).leave();
        working.join();

        assertThat(night.findings(run)).isEmpty();
        assertThat(night.coverage().experimentsSafe()).isEqualTo(EXPERIMENTS);
        for (int i = 0; i < EXPERIMENTS; i++) {
            NightlyBackupIT.assertChecks(root.resolve("p/S" + i));
        }
        assertThat(shared("look")).as("looked at by the worker").isPositive();
        assertThat(shared("sendUnits")).as("sent by the worker").isPositive();
        assertThat(shared("settle")).as("settled by the worker").isPositive();
        assertThat(night.get(RunWorkers.class).of(run.id())).anySatisfy(worker -> {
            assertThat(worker.ended()).isTrue();
            assertThat(worker.bytesMoved()).isPositive();
            assertThat(worker.entriesProven()).isPositive();
            assertThat(worker.bottleneck())
                    .isIn(Stream.of(Limit.values()).map(Limit::name).toList());
        });
        assertThat(helper.get(Limits.class).of(run.id()))
                .as("of the worker: the test does the service's share without a job")
                .isNotEmpty();
        assertThat(night.count("select count(*) from offered_look")).isZero();
        assertThat(night.count("select count(*) from settling")).isZero();
        night.get(Senders.class).close(run.id());
        night.get(NightFlows.class).close(run.id());
    }

    private static Thread inBackground(Night.Meanwhile work) {
        return Thread.ofVirtual().start(() -> {
            try {
                work.run();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
    }

    @Test
    void whatAWorkerCannotReadIsLeftToTheService() throws Exception {
        Path away = experiment("S1");
        experiment("S2");
        assertThat(night.run().state()).isEqualTo(RunState.COMPLETE);
        Files.writeString(source.resolve("S2/f0"), "changed");
        Run run = opened();
        night.get(OfferedLooks.class).add(run.id(), new Offer(1, 0));
        night.get(OfferedLooks.class).add(run.id(), new Offer(2, 0));
        night.get(OfferedLooks.class).looked(run.id());
        Files.move(away, folder.resolve("unmounted"));

        NightFlow flow = joined(run);
        helper.get(Looking.class).look(flow);

        assertThat(night.jdbc()
                        .sql("select experiment_id from offered_look where for_service and worker_id is null")
                        .query(Integer.class)
                        .list())
                .containsExactly(1);
        assertThat(night.get(OfferedLooks.class).left(run.id())).containsExactly(1);
        assertThat(night.findings(run)).isEmpty();
        assertThat(night.count("select count(*) from transfer_unit where run_id = " + run.id()))
                .as("the other one is planned")
                .isEqualTo(1);
        assertThat(helper.get(OfferedLooks.class).claim(run.id(), flow.worker(), 9))
                .isEmpty();
    }

    @Test
    void aWorkerThatMissesFilesSealsNothing() throws Exception {
        experiment("S1");
        assertThat(night.run().state()).isEqualTo(RunState.COMPLETE);
        Run run = opened();
        night.get(OfferedLooks.class).add(run.id(), new Offer(1, 0));
        night.get(OfferedLooks.class).looked(run.id());
        Files.delete(source.resolve("S1/f3"));

        helper.get(Looking.class).look(joined(run));

        assertThat(night.count("select count(*) from manifest")).isEqualTo(1);
        assertThat(night.count("select count(*) from offered_look where for_service"))
                .isEqualTo(1);
    }

    @Test
    void aUnitThatAWorkerCannotReadIsSentByTheService() throws Exception {
        Path away = experiment("S1");
        Run run = opened();
        night.get(Looking.class).look(flow(run));
        Files.move(away, folder.resolve("unmounted"));

        NightFlow flow = joined(run);
        Thread sending = inBackground(() -> helper.get(Sending.class).send(flow, 0));
        Night.until(
                () -> night.count("select count(*) from transfer_unit where for_service and worker_id is null") > 0);
        Files.move(folder.resolve("unmounted"), away);

        night.get(Sending.class).send(flow(run), 0);
        sending.join();
        assertThat(night.findings(run)).isEmpty();
        assertThat(night.count("select count(*) from transfer_unit where state = 'VERIFIED'"))
                .isEqualTo(1);
        assertThat(night.get(RunWorkers.class).of(run.id()))
                .singleElement()
                .satisfies(worker -> assertThat(worker.entriesProven()).isZero());
    }

    @Test
    void aWorkerFromWhichOthersHaveTakenOverStops() throws Exception {
        experiment("S1");
        Run run = opened();
        NightFlow flow = joined(run);
        assertThat(flow.isSure()).isTrue();

        helper.update("update run_worker set lease_until = now() - interval '1 s', ended = true where joined");

        Night.until(flow::ends);
        assertThat(flow.isSure()).isFalse();
        assertThat(helper.get(NightFlows.class).isSure(run.id())).isFalse();
        assertThat(night.get(NightFlows.class).isSure(run.id())).isTrue();
        assertThat(reason(run, new JobExecutionException("of the framework")))
                .isEqualTo("its lease had expired, and others have taken over its work");
    }

    @Test
    void aWorkerThatLeavesEarlySaysWhatHappenedAndNotThatTheFrameworkFailed() throws Exception {
        experiment("S1");
        Run run = opened();
        var _ = joined(run);

        assertThat(reason(run)).isEqualTo("it was paused or stopped");
        assertThat(reason(
                        run,
                        new JobExecutionException("of the framework"),
                        new RemoteException(RemoteException.Reason.LOST, "the connection is lost")))
                .isEqualTo("the connection is lost");
    }

    /** Returns why a share that ends with these failures has left its run. */
    private String reason(Run run, Throwable... failures) {
        JobExecution job = new JobExecution(1, new JobInstance(1, NightlyBackupJob.SHARE), new JobParameters());
        Stream.of(failures).forEach(job::addFailureException);
        return helper.get(ShareEnd.class).reason(job, run.id());
    }

    @Test
    void whatAWorkerHasSentNeverBecomesLess() throws Exception {
        experiment("S1");
        Run run = opened();
        night.get(Looking.class).look(flow(run));
        NightFlow flow = joined(run);
        helper.get(Sending.class).send(flow, 0);
        long sent = helper.get(Senders.class).bytesMovedHere(run.id());
        assertThat(sent).isPositive();

        // As long as it may have been replaced, its lanes are closed; then it renews its lease and goes on.
        Night.until(() -> {
            flow.renewed(System.nanoTime() - 1);
            return helper.get(Senders.class).lanes(run.id()) == 0;
        });
        Night.until(flow::isSure);
        assertThat(bytesMoved(run)).isEqualTo(sent);

        helper.get(Senders.class).close(run.id());
        helper.get(NightFlows.class).close(run.id());
        assertThat(bytesMoved(run)).isEqualTo(sent);
        assertThat(helper.get(Senders.class).bytesMovedHere(run.id()))
                .as("the next share counts anew")
                .isZero();
    }

    private void expire(long worker) {
        night.update("update run_worker set lease_until = now() - interval '1 s' where worker_id = " + worker);
    }

    private long bytesMoved(Run run) {
        return night.get(RunWorkers.class).of(run.id()).getFirst().bytesMoved();
    }

    @Test
    void theServiceTakesOverFromAWorkerThatDoesNotRenewItsLease() throws Exception {
        experiment("S1");
        Run run = opened();
        night.get(Looking.class).look(flow(run));
        long dead = helper.get(RunWorkers.class).enlist(run.id(), "dead", true);
        assertThat(helper.get(dozo.transfer.ClaimedUnits.class).claim(run.id(), dead, 0, 9))
                .hasSize(1);
        Night.until(() -> night.get(NightFlows.class).others(run.id()).alive() == 1);

        expire(dead);

        Night.until(() -> night.count("select count(*) from transfer_unit where worker_id is null") == 1);
        assertThat(night.get(RunWorkers.class).renew(dead, 0, 0, "")).isEmpty();
        assertThat(night.get(dozo.transfer.ClaimedUnits.class).claim(run.id(), dead, 0, 9))
                .as("it may claim nothing any more")
                .isEmpty();
        assertThat(night.get(RunWorkers.class).of(run.id()))
                .singleElement()
                .satisfies(worker -> assertThat(worker.replaced()).isTrue());
        assertThat(replaced(run))
                .singleElement()
                .satisfies(row -> assertThat(row)
                        .contains(
                                "\"host\": \"dead\"",
                                "\"units\": \"1\"",
                                "\"looks\": \"0\"",
                                "\"worker\": \"" + dead + "\""));
    }

    /** Returns the details of the rows of the ledger about workers that were replaced in a run. */
    private List<String> replaced(Run run) {
        return night
                .get(Ledger.class)
                .page(new Ledger.Filter(String.valueOf(run.id()), "worker.replaced", null, null, null), 0, 9)
                .stream()
                .map(LedgerEntry::detail)
                .toList();
    }

    @Test
    void twoThatTakeOverFromTheSameWorkerRecordItOnce() throws Exception {
        experiment("S1");
        Run run = opened();
        night.get(NightFlows.class).end();
        RunWorkers workers = night.get(RunWorkers.class);
        List<Long> alive = List.of(workers.enlist(run.id(), "a", true), workers.enlist(run.id(), "b", true));
        long dead = workers.enlist(run.id(), "dead", true);
        expire(dead);

        List<Thread> taking = alive.stream()
                .map(each -> inBackground(() -> workers.takeOver(run.id(), each)))
                .toList();
        for (Thread each : taking) {
            each.join();
        }

        assertThat(replaced(run)).hasSize(1);
    }

    @Test
    void aWorkerThatLeavesIsNotReplaced() throws Exception {
        experiment("S1");
        Run run = opened();
        var _ = joined(run);
        helper.get(NightFlows.class).close(run.id());

        night.get(RunWorkers.class)
                .takeOver(run.id(), night.get(NightFlows.class).worker(run.id()));

        assertThat(replaced(run)).isEmpty();
        assertThat(night.get(RunWorkers.class).of(run.id()))
                .singleElement()
                .satisfies(worker -> assertThat(worker.replaced()).isFalse());
    }

    @Test
    void theLeaseOfAWorkerIsAsLongAsThatOfTheActiveService() throws Exception {
        experiment("S1");
        Run run = opened();
        night.update("update service_lease set lease_millis = 3000");
        RunWorkers workers = helper.get(RunWorkers.class);
        long one = workers.enlist(run.id(), "one", true);
        assertThat(workers.lease()).isEqualTo(Duration.ofSeconds(3));
        assertThat(
                        night.count(
                                "select count(*) from run_worker where host = 'one' and lease_until = began_at + interval '3 s'"))
                .isEqualTo(1);

        night.update("update service_lease set lease_millis = 60000");

        assertThat(workers.renew(one, 0, 0, "")).contains(Duration.ofMinutes(1));
        assertThat(night.count(
                        "select count(*) from run_worker where host = 'one' and lease_until > now() + interval '30 s'"))
                .isEqualTo(1);
    }

    @Test
    void aRunThatIsStoppedDismissesItsWorkers() throws Exception {
        experiment("S1");
        Run run = opened();
        NightFlow flow = joined(run);

        Thread stopping = Thread.ofVirtual().start(() -> night.operations().stop(run.id(), "test"));
        Night.until(flow::ends);
        assertThat(night.find(run).goesOn()).as("it waits for the worker").isTrue();
        helper.get(NightFlows.class).close(run.id());
        stopping.join();

        assertThat(night.find(run).state()).isEqualTo(RunState.STOPPED);
        assertThat(helper.get(RunWorkers.class).open()).isZero();
    }

    @Test
    void aWorkerThatHangsDoesNotHoldUpOtherOperations() throws Exception {
        experiment("S1");
        Run run = opened();
        RunWorkers workers = helper.get(RunWorkers.class);
        long hung = workers.enlist(run.id(), "hung", true);
        Operations operations = night.operations();

        Thread stopping = inBackground(() -> operations.stop(run.id(), "test"));
        Night.until(() -> night.count("select count(*) from run_worker where ended and joined") == 1);
        operations.keepHours();
        assertThatThrownBy(() -> operations.resume(run.id(), "test")).isInstanceOf(Refusal.class);
        assertThat(night.find(run).goesOn()).as("it waits for the worker").isTrue();
        workers.leave(hung);
        stopping.join();

        assertThat(night.find(run).state()).isEqualTo(RunState.STOPPED);
        assertThat(night.count("select count(*) from ledger where action = 'run.ended'"))
                .isEqualTo(1);
    }

    @Test
    void aWorkerOfAnotherVersionDoesNotJoin() throws Exception {
        experiment("S1");
        Run run = opened();
        assertThat(helper.get(RunWorkers.class).open()).isEqualTo(run.id());
        assertThat(helper.get(RunWorkers.class).otherVersion()).isEmpty();

        night.update("update run_worker set version = '9.9'");

        assertThat(helper.get(RunWorkers.class).open()).isZero();
        assertThat(helper.get(RunWorkers.class).otherVersion()).isEqualTo("9.9");
    }
}
