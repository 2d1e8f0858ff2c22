package dozo.start;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.start.DatabaseServer.Unfit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DatabaseServerTest {

    @ParameterizedTest
    @CsvSource({"15, UTF8, false", "16, UTF8, true", "18, UTF8, true", "18, LATIN1, false"})
    void itIsRecentAndStoresEveryCharacter(int version, String encoding, boolean fit) {
        assertThat(server(version, encoding, false).unfit().isEmpty()).isEqualTo(fit);
    }

    @Test
    void anOldOneIsRefusedWithTheReleaseThatFits() {
        assertThat(server(15, "UTF8", false).unfit())
                .containsExactly(new Unfit("PostgreSQL 15.1 is too old", "Use PostgreSQL 18, or 16 at least.", false));
    }

    /** After a failover it may be the primary a second later, so a service is started again. */
    @Test
    void aStandbyMayBecomeFit() {
        assertThat(server(18, "UTF8", true).unfit())
                .singleElement()
                .extracting(Unfit::passing)
                .isEqualTo(true);
    }

    private static DatabaseServer server(int version, String encoding, boolean recovering) {
        return new DatabaseServer(
                version,
                version + ".1",
                encoding,
                recovering,
                false,
                "public",
                true,
                true,
                false,
                false,
                false,
                0,
                true,
                100,
                -1,
                true,
                true,
                "on",
                1.1);
    }
}
