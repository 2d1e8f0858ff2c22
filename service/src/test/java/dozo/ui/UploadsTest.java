package dozo.ui;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.ui.Uploads.Upload;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Files that wait for confirmation use limited memory for a limited time, however many are sent. */
class UploadsTest {

    private Instant now = Instant.parse("2026-10-01T12:00:00Z");
    private final Uploads uploads = new Uploads(() -> now);

    @Test
    void aFileWaitsForItsUserOnly() {
        UUID id = uploads.keep("one", upload(10));

        assertThat(uploads.find("one", id)).isPresent();
        assertThat(uploads.find("two", id)).isEmpty();
        assertThat(uploads.find("one", UUID.randomUUID())).isEmpty();
        uploads.remove("two", id);
        assertThat(uploads.find("one", id)).isPresent();
        uploads.remove("one", id);
        assertThat(uploads.find("one", id)).isEmpty();
    }

    @Test
    void aUsersNextFileTakesTheLastOnesPlace() {
        UUID first = uploads.keep("one", upload(10));
        UUID second = uploads.keep("one", upload(10));

        assertThat(uploads.find("one", first)).isEmpty();
        assertThat(uploads.find("one", second)).isPresent();
    }

    @Test
    void afterAnHourItIsForgotten() {
        UUID id = uploads.keep("one", upload(10));
        now = now.plus(Uploads.AGE_MAX);
        assertThat(uploads.find("one", id)).isPresent();
        now = now.plus(Duration.ofSeconds(1));
        assertThat(uploads.find("one", id)).isEmpty();
    }

    @Test
    void whatHasWaitedLongestMakesWay() {
        List<UUID> all = new ArrayList<>();
        int fit = (int) (Uploads.BYTES_MAX / CsvPage.BYTES_MAX);
        Upload large = upload(CsvPage.BYTES_MAX);
        for (int i = 0; i <= fit; i++) {
            all.add(uploads.keep("user" + i, large));
        }

        assertThat(uploads.find("user0", all.getFirst())).isEmpty();
        for (int i = 1; i <= fit; i++) {
            assertThat(uploads.find("user" + i, all.get(i))).as("user" + i).isPresent();
        }
    }

    private static Upload upload(int bytes) {
        return new Upload("a.csv", new byte[bytes], null, null);
    }
}
