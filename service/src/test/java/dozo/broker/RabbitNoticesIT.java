package dozo.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Notices over a real broker arrive, and a broker that is away, full or comes back holds up nobody. */
class RabbitNoticesIT {

    private static final Duration LIMIT = Duration.ofMinutes(3);

    @TempDir
    Path folder;

    private RabbitBroker broker;
    private final List<Long> heard = new CopyOnWriteArrayList<>();
    private final List<Long> heardBySelf = new CopyOnWriteArrayList<>();

    @BeforeEach
    void start() throws Exception {
        broker = RabbitBroker.running();
    }

    private RabbitNotices listening() {
        RabbitNotices notices = new RabbitNotices(broker.settings());
        notices.onEach(heard::add);
        return notices;
    }

    private void awaitHeard(RabbitNotices teller, long run) {
        await().atMost(LIMIT).until(() -> {
            teller.tell(run);
            return heard.contains(run);
        });
    }

    @Test
    void aNoticeReachesTheOthersAndNotTheOneThatTold() {
        try (RabbitNotices teller = new RabbitNotices(broker.settings());
                RabbitNotices _ = listening()) {
            teller.onEach(heardBySelf::add);

            awaitHeard(teller, 7);
            awaitHeard(teller, 8);

            assertThat(heardBySelf).isEmpty();
            assertThat(heard).containsOnly(7L, 8L);
        }
    }

    @Test
    void aBrokerThatDiesAndComesBackIsUsedAgain() throws Exception {
        try (RabbitNotices teller = new RabbitNotices(broker.settings());
                RabbitNotices _ = listening()) {
            awaitHeard(teller, 1);
            broker.kill();
            for (int i = 0; i < 1_000; i++) {
                teller.tell(2);
            }
            broker.restart();
            awaitHeard(teller, 3);
        }
    }

    @Test
    void aBrokerThatIsNotThereAtTheStartIsUsedLater() throws Exception {
        broker.kill();
        try (RabbitNotices teller = new RabbitNotices(broker.settings());
                RabbitNotices _ = listening()) {
            teller.tell(1);
            broker.restart();
            awaitHeard(teller, 4);
        }
    }

    @Test
    void aBrokerWhoseDiskIsFullHoldsUpNobody() throws Exception {
        try (RabbitNotices teller = new RabbitNotices(broker.settings());
                RabbitNotices _ = listening()) {
            awaitHeard(teller, 1);
            broker.disk(true);
            try {
                long began = System.nanoTime();
                for (int i = 0; i < 1_000; i++) {
                    teller.tell(5);
                }
                assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(LIMIT);
            } finally {
                broker.disk(false);
            }
            awaitHeard(teller, 6);
        }
    }

    @Test
    void aWrongPasswordEndsNothing() throws Exception {
        Path password = Files.writeString(folder.resolve("password"), "wrong");
        Files.setPosixFilePermissions(password, PosixFilePermissions.fromString("rw-------"));
        try (RabbitNotices refused = new RabbitNotices(new BrokerSettings(broker.url(), "guest", password.toString()));
                RabbitNotices teller = new RabbitNotices(broker.settings());
                RabbitNotices _ = listening()) {
            refused.onEach(heardBySelf::add);
            refused.tell(9);
            awaitHeard(teller, 10);

            assertThat(heard).doesNotContain(9L);
            assertThat(heardBySelf).isEmpty();

            // The file is read again at the next attempt.
            Files.writeString(password, "guest");
            awaitHeard(refused, 11);
        }
    }

    @Test
    void settingsThatCannotBeRightAreRefused() {
        assertThatThrownBy(() -> new BrokerSettings("http://broker", "", "")).hasMessageContaining("url");
        assertThatThrownBy(() -> new BrokerSettings("amqp://user:secret@broker", "", ""))
                .hasMessageContaining("url");
        assertThatThrownBy(() -> new BrokerSettings("", "dozo", "")).hasMessageContaining("is missing");
    }
}
