package dozo.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.copy.Trees;
import java.nio.file.Path;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class CommandOutputTest {

    private static final SiteAddress SITE = new SiteAddress("site", 22, "user", "/root", Path.of("identity"), "unused");
    private static final int PACKET_BYTES = 32 << 10;

    private final AtomicInteger released = new AtomicInteger();
    private final CommandOutput output = new CommandOutput(SITE, released::addAndGet);

    @Test
    void whatIsAddedIsReadInItsOrderWhileItArrives() throws Exception {
        byte[] content = Trees.random((16 << 20) + 7);
        FutureTask<byte[]> reading = new FutureTask<>(output::readAllBytes);
        Thread.ofVirtual().start(reading);

        for (int at = 0; at < content.length; at += PACKET_BYTES) {
            output.add(content, at, Math.min(PACKET_BYTES, content.length - at));
            output.add(content, at, 0);
        }
        output.complete();
        output.end();

        assertThat(reading.get()).isEqualTo(content);
        assertThat(released.get())
                .as("all but the last is released for more")
                .isBetween(content.length - SshLogin.RECEIVE_WINDOW_BYTES / 4, content.length);
        assertThat(output.read()).isEqualTo(-1);
    }

    @Test
    void aReadReturnsAsMuchAsIsWantedAndOneByteIsUnsigned() throws Exception {
        output.add(new byte[] {1, 2, 3}, 0, 3);
        output.add(new byte[] {9, (byte) 200, 9}, 1, 1);
        output.complete();
        byte[] three = new byte[3];

        assertThat(output.read(three)).isEqualTo(3);
        assertThat(three).containsExactly(1, 2, 3);
        assertThat(output.read()).isEqualTo(200);
        assertThat(output.read()).isEqualTo(-1);
        assertThat(output.read(three)).isEqualTo(-1);
        assertThat(output.read(three, 0, 0)).isZero();
    }

    @Test
    void anEndBeforeEverythingCameIsAFailureAfterWhatCame() throws Exception {
        output.add(new byte[] {1}, 0, 1);
        output.end();

        assertThat(output.read()).isEqualTo(1);
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(output::read)
                    .isInstanceOfSatisfying(
                            RemoteException.class, e -> assertThat(e.reason()).isEqualTo(RemoteException.Reason.LOST))
                    .hasMessageContaining("was cut off");
        }
    }

    @Test
    void anInterruptionEndsTheReadingAndIsKept() throws Exception {
        Thread.currentThread().interrupt();

        assertThatThrownBy(output::read).isInstanceOf(RemoteException.class).hasMessageContaining("interrupted");

        assertThat(Thread.interrupted()).isTrue();
    }
}
