package dozo.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class WayTest {

    /** Names as in RFC 4594 and ssh_config(5). */
    @ParameterizedTest
    @CsvSource({"cs0,0", "cs1,8", "CS7,56", "af11,10", "af43,38", "ef,46", "le,1", "0,0", "63,63"})
    void marksHaveNames(String name, int dscp) {
        assertThat(Way.dscp(name)).contains(dscp);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "cs8", "af14", "af51", "64", "-1", "lowdelay", "100"})
    void otherWordsAreNone(String name) {
        assertThat(Way.dscp(name)).isEmpty();
    }

    @Test
    void aMarkHasSixBits() {
        assertThatThrownBy(() -> new Way(Optional.empty(), 64)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void packetsCarryTheMark() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                SocketChannel socket = BlockingIo.socket(
                        (InetSocketAddress) server.getLocalSocketAddress(), 8, Duration.ofSeconds(5))) {
            assertThat(socket.getOption(StandardSocketOptions.IP_TOS)).isEqualTo(8 << 2);
        }
    }
}
