package dozo.file;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.copy.Trees;
import java.io.IOException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SpoolTest {

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 1_000, Spool.MEMORY_BYTES, Spool.MEMORY_BYTES + 1, 3 * Spool.MEMORY_BYTES + 7})
    void whatIsWrittenIsReadAsOftenAsWanted(int length) throws IOException {
        byte[] bytes = Trees.random(length);
        try (Spool spool = new Spool()) {
            for (int at = 0; at < length; at += 65_521) {
                spool.write(bytes, at, Math.min(65_521, length - at));
            }

            assertThat(spool.length()).isEqualTo(length);
            assertThat(spool.read().readAllBytes()).isEqualTo(bytes);
            assertThat(spool.read().readAllBytes()).isEqualTo(bytes);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {5, Spool.MEMORY_BYTES + 5})
    void oneByteAtATime(int length) throws IOException {
        try (Spool spool = new Spool()) {
            for (int i = 0; i < length; i++) {
                spool.write(i);
            }
            var in = spool.read();
            for (int i = 0; i < length; i++) {
                assertThat(in.read()).isEqualTo(i & 0xFF);
            }
            assertThat(in.read()).isEqualTo(-1);
        }
    }
}
