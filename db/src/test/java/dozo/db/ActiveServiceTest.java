package dozo.db;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.db.ActiveService.Holder;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** A service is sure of its lease only while nobody else can have it. */
class ActiveServiceTest {

    private static final Duration LENGTH = Duration.ofMinutes(10);

    private final Holder self = new Holder("a", "", Instant.EPOCH, 1);

    @Test
    void aServiceIsSureUntilItsLeaseExpires() {
        ActiveService active = new ActiveService("a", true);
        assertThat(active.isSure()).isFalse();

        active.begin(self, System.nanoTime(), LENGTH);
        assertThat(active.isSure()).isTrue();

        active.renew(System.nanoTime() - LENGTH.toNanos(), LENGTH);
        assertThat(active.isSure()).isFalse();
        assertThat(active.isHere())
                .as("nobody has taken over, as far as it knows")
                .isTrue();

        active.renew(System.nanoTime(), LENGTH);
        assertThat(active.isSure()).isTrue();

        active.lose(new Holder("b", "", Instant.EPOCH, 2));
        assertThat(active.isSure()).isFalse();
        assertThat(active.isHere()).isFalse();
        assertThat(active.isLost()).isTrue();
    }

    @Test
    void whereNobodyElseCanBeTheLeaseDoesNotExpire() {
        ActiveService active = new ActiveService("a", false);

        active.begin(self, System.nanoTime() - LENGTH.toNanos(), Duration.ZERO);

        assertThat(active.isSure()).isTrue();
        assertThat(ActiveService.alone().isSure()).isTrue();
    }
}
