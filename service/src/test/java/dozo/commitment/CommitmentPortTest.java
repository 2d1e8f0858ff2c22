package dozo.commitment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dozo.alert.Condition;
import dozo.alert.Condition.Kind;
import dozo.commitment.Association.Limits;
import dozo.db.ActiveService;
import dozo.db.TestDatabase;
import dozo.loopback.Ports;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Whatever comes over a connection, it is answered as DICOM says, or the connection ends. */
class CommitmentPortTest {

    private static final Limits LONG = new Limits(Duration.ofMinutes(2), Duration.ofMinutes(4));
    private static final int IS_COMMAND = 1;
    private static final int IS_LAST = 2;

    private final ProvenImages catalogue = new ProvenImages(TestDatabase.fresh(), 1, 1);
    private final int own = Ports.free();
    private CommitmentPort port;

    private CommitmentPort opened(Limits limits, ActiveService active) {
        CommitmentSettings settings = new CommitmentSettings(
                own, "127.0.0.1", "DOZO", "MR=127.0.0.1:%d".formatted(Ports.free()), Duration.ofHours(36), "", "", "");
        port = new CommitmentPort(settings, active, catalogue.commitments(), catalogue.images, catalogue.clock);
        port.limit(limits);
        port.look();
        return port;
    }

    private RawPeer peer() throws IOException {
        if (port == null) {
            opened(LONG, ActiveService.alone());
        }
        return new RawPeer(own);
    }

    @AfterEach
    void stop() {
        if (port != null) {
            port.close();
        }
    }

    private static DataSet.Writer command(int type) {
        return new DataSet.Writer().number(Message.TYPE, type).number(Message.NUMBER, 7);
    }

    private static DataSet.Writer action(String sopClass, String instance, int action) {
        return new DataSet.Writer()
                .uid(Message.REQUESTED_CLASS, sopClass)
                .number(Message.TYPE, Message.N_ACTION_RQ)
                .number(Message.NUMBER, 7)
                .uid(Message.REQUESTED_INSTANCE, instance)
                .number(Message.ACTION_TYPE, action);
    }

    private static DataSet.Writer action() {
        return action(Offer.COMMITMENT, Requests.INSTANCE, 1);
    }

    private static byte[] request(String transaction, List<byte[]> items) {
        return new DataSet.Writer()
                .uid(DataSet.TRANSACTION_UID, transaction)
                .sequence(DataSet.IMAGES, items)
                .bytes();
    }

    private static byte[] item(String classUid, String instanceUid) {
        return new DataSet.Writer()
                .uid(DataSet.CLASS_UID, classUid)
                .uid(DataSet.INSTANCE_UID, instanceUid)
                .bytes();
    }

    private int stored() {
        return catalogue
                .jdbc
                .sql("select count(*) from commitment")
                .query((row, n) -> row.getInt(1))
                .single();
    }

    @Test
    void titlesAndApplicationMustBeKnown() throws Exception {
        for (Offer offer : List.of(
                RawPeer.offer("OTHER", "MR", Offer.APPLICATION, 0),
                RawPeer.offer("DOZO", "CT", Offer.APPLICATION, 0),
                RawPeer.offer("DOZO", "MR", "1.2.3", 0))) {
            try (RawPeer peer = peer()) {
                peer.send(offer.write(Pdu.ASSOCIATE_RQ));

                assertThat(peer.receive().type()).isEqualTo(Pdu.ASSOCIATE_RJ);
                assertThat(peer.isClosed()).isTrue();
            }
        }
    }

    @Test
    void onlyTheTwoClassesAreAccepted() throws Exception {
        try (RawPeer peer = peer()) {
            peer.send(RawPeer.offer("DOZO", "MR", Offer.APPLICATION, 0).write(Pdu.ASSOCIATE_RQ));

            assertThat(Offer.read(peer.receive().body()).contexts())
                    .extracting(Offer.Context::result)
                    .containsExactly(0, 0, 3);
        }
    }

    @Test
    void answersNameTheRequestAndBothUids() throws Exception {
        try (RawPeer peer = peer().associated()) {
            peer.fragment(
                    RawPeer.VERIFICATION,
                    IS_COMMAND | IS_LAST,
                    command(Message.C_ECHO_RQ)
                            .number(Message.DATA, Message.NO_DATA)
                            .command());
            DataSet echo = peer.command();
            assertThat(echo.number(Message.TYPE)).isEqualTo(0x8030);
            assertThat(echo.number(Message.ANSWERED)).isEqualTo(7);

            byte[] items = request("1.2.9", List.of(item(ProvenImages.MR, "1.2.3.1")));
            peer.fragment(
                    RawPeer.COMMITMENT,
                    IS_COMMAND,
                    action().number(Message.DATA, 0).command());
            peer.fragment(RawPeer.COMMITMENT, IS_COMMAND | IS_LAST, new byte[0]);
            peer.fragment(RawPeer.COMMITMENT, 0, Arrays.copyOf(items, 9));
            peer.fragment(RawPeer.COMMITMENT, IS_LAST, Arrays.copyOfRange(items, 9, items.length));
            DataSet answer = peer.command();
            assertThat(answer.number(Message.TYPE)).isEqualTo(0x8130);
            assertThat(answer.number(Message.DATA)).isEqualTo(Message.NO_DATA);
            assertThat(answer.text(Message.AFFECTED_CLASS)).isEqualTo(Offer.COMMITMENT);
            assertThat(answer.text(Message.AFFECTED_INSTANCE)).isEqualTo(Requests.INSTANCE);
            assertThat(answer.number(Message.STATUS)).isZero();

            peer.send(Pdu.empty(Pdu.RELEASE_RQ));
            assertThat(peer.receive().type()).isEqualTo(Pdu.RELEASE_RP);
            assertThat(peer.isClosed()).isTrue();
        }
        assertThat(stored()).isOne();
    }

    @Test
    void requestsThatCannotBeStoredGetAStatus() throws Exception {
        List<byte[]> one = List.of(item(ProvenImages.MR, "1.2.3.1"));
        byte[] good = request("1.2.9", one);
        List<byte[]> many = IntStream.rangeClosed(0, Commitments.IMAGES_MAX)
                .mapToObj(n -> item("1.2", "1.2.3." + n))
                .toList();
        try (RawPeer peer = peer().associated()) {
            assertThat(peer.action(RawPeer.VERIFICATION, action(), good)).isEqualTo(0x0112);
            assertThat(peer.action(3, action("1.2", Requests.INSTANCE, 1), good))
                    .isEqualTo(0x0112);
            assertThat(peer.action(3, action(Offer.COMMITMENT, "1.2", 1), good)).isEqualTo(0x0112);
            assertThat(peer.action(3, action(Offer.COMMITMENT, Requests.INSTANCE, 2), good))
                    .isEqualTo(0x0123);
            assertThat(peer.action(3, action(), null)).isEqualTo(0x0115);
            assertThat(peer.action(3, action(), request("", one))).isEqualTo(0x0115);
            assertThat(peer.action(3, action(), request("1.2.9", List.of()))).isEqualTo(0x0115);
            assertThat(peer.action(3, action(), request("1.2.9", List.of(item("x", "1.2")))))
                    .isEqualTo(0x0115);
            assertThat(peer.action(3, action(), request("1.2.9", List.of(item("1.2", "1".repeat(65))))))
                    .isEqualTo(0x0115);
            peer.fragment(
                    3, IS_COMMAND | IS_LAST, action().number(Message.DATA, 0).command());
            byte[] tooLong = request("1.2.9", many);
            for (int at = 0; at < tooLong.length; at += 60_000) {
                int end = Math.min(tooLong.length, at + 60_000);
                peer.fragment(3, end == tooLong.length ? IS_LAST : 0, Arrays.copyOfRange(tooLong, at, end));
            }
            assertThat(peer.command().number(Message.STATUS)).isEqualTo(0x0213);
            catalogue.jdbc.sql("alter table commitment rename to away").update();
            assertThat(peer.action(3, action(), good)).isEqualTo(0x0110);
        }
    }

    @Test
    void aCallerMayHaveOnlySoManyRequestsWaiting() throws Exception {
        catalogue.jdbc.sql("""
                        insert into commitment (caller, transaction_uid, class_uids, instance_uids, asked_at, due_at)
                        select 'MR', '1.2.8.' || n, '{1.2}', '{1.2}', now(), 'infinity' from generate_series(1, :most) n
                        """).param("most", Commitments.WAITING_MAX).update();
        try (RawPeer peer = peer().associated()) {
            assertThat(peer.action(3, action(), request("1.2.9", List.of(item("1.2", "1.2")))))
                    .isEqualTo(0x0213);
            assertThat(peer.action(3, action(), request("1.2.8.1", List.of(item("1.2", "1.2")))))
                    .isZero();
        }
    }

    private static byte[] header(int type, int length) {
        return ByteBuffer.allocate(6)
                .put((byte) type)
                .put((byte) 0)
                .putInt(length)
                .array();
    }

    @Test
    void whatIsNoAssociationEndsTheConnection() throws Exception {
        List<byte[]> sent = List.of(
                "GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII),
                header(Pdu.ASSOCIATE_RQ, Pdu.BYTES_MAX + 1),
                header(Pdu.ASSOCIATE_RQ, -1),
                header(0, 4),
                header(8, 4),
                ByteBuffer.allocate(10).put(header(Pdu.DATA, 4)).array(),
                ByteBuffer.allocate(10).put(header(Pdu.ASSOCIATE_RQ, 4)).array());
        for (byte[] bytes : sent) {
            try (RawPeer peer = peer()) {
                peer.send(bytes);
                assertThat(peer.isClosed())
                        .as("%s", new String(bytes, StandardCharsets.ISO_8859_1))
                        .isTrue();
            }
        }
    }

    @Test
    void anOfferThatIsCutAnywhereEndsTheConnection() throws Exception {
        ByteBuffer whole = RawPeer.offer("DOZO", "MR", Offer.APPLICATION, 0)
                .write(Pdu.ASSOCIATE_RQ)
                .body();
        for (int length = 0; length < whole.limit(); length++) {
            try (RawPeer peer = peer()) {
                peer.send(new Pdu(
                        Pdu.ASSOCIATE_RQ,
                        ByteBuffer.wrap(whole.array(), 0, length).slice()));
                assertThat(peer.isClosed()).as("%d bytes", length).isTrue();
            }
        }
        try (RawPeer peer = peer()) {
            peer.send(RawPeer.offer("DOZO", "MR", Offer.APPLICATION, 100).write(Pdu.ASSOCIATE_RQ));
            assertThat(peer.isClosed()).isTrue();
        }
    }

    @Test
    void messagesThatAreNoneEndTheAssociation() throws Exception {
        byte[] command = action().number(Message.DATA, 0).command();
        List<byte[]> data = new ArrayList<>(List.of(
                new byte[] {1, 2, 3},
                new DataSet.Writer()
                        .uid(DataSet.TRANSACTION_UID, "1.2.9")
                        .sequence(0x0008_1199, List.of(new byte[3]))
                        .bytes(),
                new byte[] {8, 0, (byte) 0x99, 0x11, 16, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
        byte[] nested = new byte[0];
        for (int i = 0; i < 6; i++) {
            nested = new DataSet.Writer()
                    .sequence(DataSet.IMAGES, List.of(nested, item("1.2", "1.2")))
                    .bytes();
        }
        data.add(nested);
        for (byte[] bytes : data) {
            try (RawPeer peer = peer().associated()) {
                peer.fragment(3, IS_COMMAND | IS_LAST, command);
                peer.fragment(3, IS_LAST, bytes);
                assertThat(peer.receive().type()).isEqualTo(Pdu.ABORT);
                assertThat(peer.isClosed()).isTrue();
            }
        }
        assertThat(stored()).isZero();
    }

    @Test
    void fragmentsOutOfPlaceEndTheAssociation() throws Exception {
        byte[] command = action().number(Message.DATA, 0).command();
        List<Pdu> sent = List.of(
                fragment(3, IS_LAST, command, command.length + 2),
                fragment(9, IS_COMMAND | IS_LAST, command, command.length + 2),
                fragment(5, IS_COMMAND | IS_LAST, command, command.length + 2),
                fragment(3, IS_COMMAND | IS_LAST, command, command.length + 3),
                fragment(3, IS_COMMAND | IS_LAST, command, 1),
                fragment(3, IS_COMMAND, new byte[5_000], 5_002),
                new Pdu(Pdu.DATA, ByteBuffer.allocate(5)),
                Pdu.empty(Pdu.ASSOCIATE_AC),
                fragment(
                        3,
                        IS_COMMAND | IS_LAST,
                        command(0x0001).number(Message.DATA, Message.NO_DATA).command(),
                        0));
        for (Pdu pdu : sent) {
            try (RawPeer peer = peer().associated()) {
                peer.send(pdu);
                assertThat(peer.receive().type()).isEqualTo(Pdu.ABORT);
                assertThat(peer.isClosed()).isTrue();
            }
        }
    }

    /** @param said the length that it claims; 0: the right one */
    private static Pdu fragment(int context, int control, byte[] bytes, int said) {
        ByteBuffer body = ByteBuffer.allocate(6 + bytes.length);
        body.putInt(said == 0 ? bytes.length + 2 : said)
                .put((byte) context)
                .put((byte) control)
                .put(bytes);
        return new Pdu(Pdu.DATA, body);
    }

    @Test
    void aMessageThatIsTooLongEndsTheAssociation() throws Exception {
        try (RawPeer peer = peer().associated()) {
            peer.fragment(
                    3, IS_COMMAND | IS_LAST, action().number(Message.DATA, 0).command());
            byte[] part = new byte[65_000];
            int sent = 0;
            try {
                while (sent < 10 << 20) {
                    peer.fragment(3, 0, part);
                    sent += part.length;
                }
            } catch (IOException closed) {
                // As it should be.
            }
            assertThat(peer.isClosed()).isTrue();
        }
        assertThat(stored()).isZero();
    }

    @Test
    void whoSaysNothingIsDisconnected() throws Exception {
        opened(new Limits(Duration.ofMillis(200), Duration.ofMinutes(4)), ActiveService.alone());
        try (RawPeer silent = peer();
                RawPeer slow = peer()) {
            slow.send(header(Pdu.ASSOCIATE_RQ, 100));
            assertThat(silent.isClosed()).isTrue();
            assertThat(slow.isClosed()).isTrue();
        }
    }

    @Test
    void anAssociationHasAnEnd() throws Exception {
        opened(new Limits(Duration.ofMinutes(2), Duration.ofMillis(200)), ActiveService.alone());
        try (RawPeer peer = peer()) {
            assertThat(peer.isClosed()).isTrue();
        }
    }

    @Test
    void oneAssociationTooManyIsClosedAndThereIsRoomAgainAfterwards() throws Exception {
        List<RawPeer> peers = new ArrayList<>();
        for (int i = 0; i < CommitmentPort.AT_ONCE_MAX; i++) {
            peers.add(peer().associated());
        }
        try (RawPeer more = peer()) {
            assertThat(more.isClosed()).isTrue();
        }
        for (RawPeer each : peers) {
            each.close();
        }
        await().atMost(Duration.ofMinutes(2)).until(() -> {
            try (RawPeer peer = peer()) {
                peer.associated();
                return true;
            } catch (IOException stillFull) {
                return false;
            }
        });
    }

    @Test
    void onlyTheActiveServiceListens() throws Exception {
        ActiveService active = new ActiveService("a", true);
        opened(LONG, active);
        try (ServerSocket free = new ServerSocket(own, 1, InetAddress.getLoopbackAddress())) {
            assertThat(free.isBound()).isTrue();
            active.begin(
                    new ActiveService.Holder("a", "", catalogue.now.get(), 1), System.nanoTime(), Duration.ofHours(1));
            port.look();
        }
        port.look();
        try (RawPeer peer = peer().associated()) {
            active.lose(new ActiveService.Holder("b", "", catalogue.now.get(), 2));
            port.look();
            assertThat(peer.isClosed()).isTrue();
        }
    }

    private void pass(Duration time) {
        catalogue.now.updateAndGet(now -> now.plus(time));
    }

    private List<Kind> conditions() {
        return port.now().stream().map(Condition::kind).toList();
    }

    @Test
    void aPortThatCannotBeUsedNeedsAPersonAfterAWhile() throws Exception {
        try (ServerSocket other = new ServerSocket(own, 1, InetAddress.getLoopbackAddress())) {
            assertThat(other.isBound()).isTrue();
            opened(LONG, ActiveService.alone());
            pass(CommitmentPort.TROUBLE_MAX);
            port.look();
            assertThat(conditions()).isEmpty();
            pass(Duration.ofSeconds(1));
            assertThat(conditions()).containsExactly(Kind.COMMITMENT_STOPPED);
        }
        port.look();
        assertThat(conditions()).isEmpty();
    }

    @Test
    void reportsThatStopNeedAPersonAfterAWhile() {
        catalogue.jdbc.sql("alter table commitment rename to away").update();
        opened(LONG, ActiveService.alone());
        await().until(() -> {
            pass(CommitmentPort.TROUBLE_MAX);
            return conditions().equals(List.of(Kind.COMMITMENT_STOPPED));
        });
        catalogue.jdbc.sql("alter table away rename to commitment").update();

        await().until(() -> {
            port.look();
            return conditions().isEmpty();
        });
    }

    @Test
    void withoutAPortNothingListens() {
        CommitmentSettings off = new CommitmentSettings(0, "127.0.0.1", "DOZO", "", Duration.ofHours(36), "", "", "");
        port = new CommitmentPort(
                off, ActiveService.alone(), catalogue.commitments(), catalogue.images, catalogue.clock);
        catalogue.jdbc.sql("drop table commitment").update();

        port.look();
        port.close();
    }
}
