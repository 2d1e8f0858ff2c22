package dozo.commitment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dozo.db.TestDatabase;
import dozo.verify.CommitmentRequests;
import dozo.verify.CommitmentRequests.CommitmentRequest;
import dozo.verify.CommitmentRequests.CommitmentState;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A report comes when it is due, is tried again if the caller does not take it, and is given up in the end. */
class ReportsTest {

    private static final Duration PATIENCE = Duration.ofHours(10);

    private final ProvenImages catalogue = new ProvenImages(TestDatabase.fresh(), 2, 1);
    private final Commitments commitments = catalogue.commitments();
    private final ServerSocket caller = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final Reports reports = reports("MR=127.0.0.1:%d".formatted(caller.getLocalPort()));

    /** What the caller does once its connection is there. */
    private interface Behaviour {
        void meet(RawPeer dozo) throws IOException;
    }

    ReportsTest() throws IOException {}

    @AfterEach
    void stop() throws IOException {
        caller.close();
    }

    private Reports reports(String callers) {
        return new Reports(
                commitments,
                catalogue.images,
                new CommitmentSettings(1, "127.0.0.1", "DOZO", callers, PATIENCE, "", "", ""),
                catalogue.clock);
    }

    private void look(Behaviour behaviour) {
        CompletableFuture<Void> meeting = CompletableFuture.runAsync(() -> {
            try (RawPeer dozo = new RawPeer(caller.accept())) {
                behaviour.meet(dozo);
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
        reports.look();
        meeting.join();
    }

    private static void accept(RawPeer dozo, int result, boolean reports, int bytesMax) throws IOException {
        Offer asked = Offer.read(dozo.receive().body());
        assertThat(asked.called()).isEqualTo("MR");
        assertThat(asked.calling()).isEqualTo("DOZO");
        assertThat(asked.reports()).isTrue();
        List<Offer.Context> contexts = List.of(new Offer.Context(Association.REPORTS, result, "", true));
        dozo.send(new Offer("MR", "DOZO", Offer.APPLICATION, contexts, bytesMax, reports).write(Pdu.ASSOCIATE_AC));
    }

    private static byte[] answer(int type, int number, int status) {
        return new DataSet.Writer()
                .number(Message.TYPE, type)
                .number(Message.ANSWERED, number)
                .number(Message.DATA, Message.NO_DATA)
                .number(Message.STATUS, status)
                .command();
    }

    /** Takes a report of two parts, and answers it. Returns its event type. */
    private static int take(RawPeer dozo, int status) throws IOException {
        DataSet command = dozo.command();
        assertThat(dozo.receive().type()).isEqualTo(Pdu.DATA);
        dozo.fragment(1, 3, answer(0x8100, 1, status));
        return command.number(Message.EVENT_TYPE);
    }

    private void ask(int images) {
        assertThat(commitments.add("MR", "1.2.9", ProvenImages.images(images))).isEqualTo(Commitments.Asked.ACCEPTED);
    }

    private void pass(Duration time) {
        catalogue.now.updateAndGet(now -> now.plus(time));
    }

    private String message() {
        return catalogue
                .jdbc
                .sql("select message from commitment")
                .query((row, n) -> row.getString(1))
                .single();
    }

    private Duration untilDue() {
        return Duration.between(
                catalogue.now.get(),
                catalogue
                        .jdbc
                        .sql("select due_at from commitment")
                        .query((row, n) -> row.getTimestamp(1).toInstant())
                        .single());
    }

    private boolean isDone() {
        return catalogue
                .jdbc
                .sql("select due_at is null from commitment")
                .query((row, n) -> row.getBoolean(1))
                .single();
    }

    @Test
    void whatIsNotSafeYetWaitsForPatience() {
        ask(2);

        reports.look();
        assertThat(untilDue()).isEqualTo(Reports.LOOK);
        pass(PATIENCE.minusSeconds(1));
        reports.look();
        assertThat(untilDue()).isEqualTo(Duration.ofSeconds(1));
        pass(Duration.ofSeconds(1));
        look(dozo -> {
            accept(dozo, 0, true, 0);
            assertThat(take(dozo, 0)).as("some are not safe").isEqualTo(2);
            assertThat(dozo.receive().type()).isEqualTo(Pdu.RELEASE_RQ);
            dozo.send(Pdu.empty(Pdu.RELEASE_RP));
        });

        assertThat(isDone()).isTrue();
        assertThat(catalogue
                        .jdbc
                        .sql("select failed from commitment")
                        .query((row, n) -> row.getInt(1))
                        .single())
                .isOne();
    }

    @Test
    void aReportThatWasTakenIsDoneHoweverTheAssociationEnds() {
        ask(1);
        look(dozo -> {
            accept(dozo, 0, true, 300);
            assertThat(take(dozo, 0)).as("all are safe").isOne();
        });

        assertThat(isDone()).isTrue();
    }

    @Test
    void whoDoesNotTakeAReportGetsItLater() {
        ask(1);
        List<Behaviour> refusals = List.of(
                dozo -> {},
                dozo -> dozo.send(new Pdu(Pdu.ASSOCIATE_RJ, ByteBuffer.wrap(new byte[] {0, 1, 1, 3}))),
                dozo -> accept(dozo, 3, true, 0),
                dozo -> accept(dozo, 0, false, 0),
                dozo -> {
                    accept(dozo, 0, true, 0);
                    take(dozo, 0x0110);
                },
                dozo -> {
                    accept(dozo, 0, true, 0);
                    dozo.command();
                    dozo.fragment(1, 3, answer(0x8100, 9, 0));
                },
                dozo -> {
                    accept(dozo, 0, true, 0);
                    dozo.command();
                    dozo.send(Pdu.empty(Pdu.RELEASE_RQ));
                });
        long minutes = 1;
        for (Behaviour each : refusals) {
            look(each);
            assertThat(message()).isNotEmpty();
            assertThat(untilDue()).isEqualTo(Duration.ofMinutes(minutes));
            minutes = Math.min(64, 2 * minutes);
            reports.look();
            pass(untilDue());
        }
        look(dozo -> {
            accept(dozo, 0, true, 0);
            take(dozo, 0);
        });

        assertThat(isDone()).isTrue();
        assertThat(message()).isEmpty();
    }

    @Test
    void whatGetsUnsafeBeforeAReportIsTakenIsNotCommittedTo() {
        ask(1);
        look(dozo -> {});
        catalogue.jdbc.sql("""
                insert into damage (experiment_id, site_id, entry_no, receipt_id, run_id, found_at, kind)
                values (1, 1, 1, 1, 1, now(), 'MISSING')
                """).update();
        pass(PATIENCE);
        look(dozo -> {
            accept(dozo, 0, true, 0);
            assertThat(take(dozo, 0)).isEqualTo(2);
        });

        assertThat(isDone()).isTrue();
    }

    @Test
    void aReportIsGivenUpInTheEnd() {
        ask(1);
        pass(PATIENCE.plus(Reports.TRIED));
        look(dozo -> {});
        assertThat(isDone()).isFalse();
        pass(Duration.ofHours(2));
        look(dozo -> {});

        assertThat(isDone()).isTrue();
        assertThat(message()).isNotEmpty();
        assertThat(listed())
                .isEqualTo(new CommitmentRequest(
                        1,
                        "MR",
                        "1.2.9",
                        CommitmentState.GIVEN_UP,
                        catalogue.now.get().minus(PATIENCE).minus(Reports.TRIED).minus(Duration.ofHours(2)),
                        1,
                        null,
                        null,
                        null,
                        null,
                        2,
                        message()));
        ask(1);
        assertThat(isDone()).as("asked again").isFalse();
        assertThat(listed().state()).isEqualTo(CommitmentState.WAITING);
    }

    private CommitmentRequest listed() {
        return new CommitmentRequests(catalogue.jdbc).page(Long.MAX_VALUE, 10).getFirst();
    }

    @Test
    void requestsAreListedTheNewestFirstWithWhatWasReported() {
        ask(2);
        commitments.reported(commitments.due().orElseThrow(), 1);
        assertThat(commitments.add("MR", "1.2.10", ProvenImages.images(1))).isEqualTo(Commitments.Asked.ACCEPTED);

        List<CommitmentRequest> all = new CommitmentRequests(catalogue.jdbc).page(Long.MAX_VALUE, 10);
        assertThat(all).extracting(CommitmentRequest::transactionUid).containsExactly("1.2.10", "1.2.9");
        assertThat(all)
                .extracting(CommitmentRequest::state, CommitmentRequest::committed, CommitmentRequest::failed)
                .containsExactly(tuple(CommitmentState.WAITING, null, null), tuple(CommitmentState.REPORTED, 1, 1));
        assertThat(new CommitmentRequests(catalogue.jdbc).page(all.getFirst().id(), 10))
                .containsExactly(all.getLast());
    }

    /** One of its UIDs is missing, which no request can bring about. */
    @Test
    void aRequestThatNoReportCanBeMadeOfDoesNotHoldUpOthers() {
        ask(1);
        catalogue.jdbc.sql("""
                insert into commitment (caller, transaction_uid, class_uids, instance_uids, asked_at, due_at)
                select 'MR', '1.2.1', '{1.2}', array[null], asked_at, asked_at - interval '1 hour' from commitment
                """).update();
        pass(PATIENCE);
        CompletableFuture<Void> meetings = CompletableFuture.runAsync(() -> {
            try (RawPeer first = new RawPeer(caller.accept())) {
                accept(first, 0, true, 0);
                first.isClosed();
                try (RawPeer second = new RawPeer(caller.accept())) {
                    accept(second, 0, true, 0);
                    take(second, 0);
                }
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
        reports.look();
        meetings.join();

        assertThat(new CommitmentRequests(catalogue.jdbc).page(Long.MAX_VALUE, 10))
                .extracting(CommitmentRequest::transactionUid, CommitmentRequest::state)
                .containsExactly(tuple("1.2.1", CommitmentState.WAITING), tuple("1.2.9", CommitmentState.REPORTED));
        assertThat(listed().message()).startsWith("a defect in Dozo: ");
    }

    @Test
    void aCallerThatIsNotKnownAnyMoreGetsNothing() {
        ask(1);
        reports("CT=127.0.0.1:%d".formatted(caller.getLocalPort())).look();

        assertThat(message()).contains("not among the callers");
    }

    @Test
    void aRepeatedRequestWaitsAnewOnlyAfterItsReport() {
        ask(2);
        Instant first = catalogue.now.get();
        pass(Duration.ofHours(1));
        ask(2);
        assertThat(commitments.due().orElseThrow().askedAt()).isEqualTo(first);
        assertThat(commitments.add("MR", "1.2.9", ProvenImages.images(1))).isEqualTo(Commitments.Asked.OTHER_IMAGES);
        commitments.reported(commitments.due().orElseThrow(), 1);
        ask(2);

        assertThat(commitments.due().orElseThrow().askedAt()).isEqualTo(catalogue.now.get());
    }

    @Test
    void oldRequestsAreForgotten() {
        ask(1);
        commitments.reported(commitments.due().orElseThrow(), 0);
        pass(Duration.ofDays(91));
        reports.look();

        assertThat(catalogue
                        .jdbc
                        .sql("select count(*) from commitment")
                        .query((row, n) -> row.getInt(1))
                        .single())
                .isZero();
    }
}
