package dozo.source.flywheel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dozo.source.delivery.DeliveryException;
import dozo.source.delivery.Trouble;
import dozo.source.flywheel.Faults.Fault;
import java.io.IOException;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Temporary failures are retried within limits; permanent ones are reported by name; the key is sent only to its host.
 */
class FlywheelTest {

    private static final String SESSION = "/sessions/" + Hierarchy.session(3);

    private final Emulator emulator = new Emulator(Hierarchy.small());
    private final Readers readers = new Readers(emulator);

    @AfterEach
    void close() {
        assertThat(emulator.faults.unfired()).isEmpty();
        readers.flywheel.close();
        emulator.close();
    }

    @ParameterizedTest
    @EnumSource(
            value = Fault.class,
            names = {"BUSY", "BROKEN", "PROXY", "TRUNCATED", "GIBBERISH", "KEY_REFUSED"})
    void whatPassesIsAskedAgain(Fault fault) throws Exception {
        emulator.faults.at(SESSION, fault, 1);

        assertThat(readers.flywheel.get(SESSION).path("label").asString()).isEqualTo("ses-00003");
        assertThat(readers.waits).hasSize(1);
    }

    @ParameterizedTest
    @EnumSource(
            value = Fault.class,
            names = {"BUSY", "BROKEN", "PROXY", "DROPPED", "TRUNCATED", "GIBBERISH"})
    void whatDoesNotPassIsGivenUp(Fault fault) {
        emulator.faults.always(SESSION, fault);

        assertThat(troubleOf(SESSION))
                .isEqualTo(
                        switch (fault) {
                            case BUSY -> Trouble.BUSY;
                            case BROKEN, PROXY -> Trouble.SERVER_FAULT;
                            case DROPPED, TRUNCATED -> Trouble.DROPPED;
                            default -> Trouble.UNPARSED;
                        });
        assertThat(readers.waits).hasSize(Readers.LIMITS.tries() - 1);
        assertThat(emulator.takeRequests()).isGreaterThanOrEqualTo(Readers.LIMITS.tries());
    }

    @Test
    void aConnectionThatEndsIsMadeAgain() throws Exception {
        emulator.faults.at(SESSION, Fault.DROPPED, 2);

        assertThat(readers.flywheel.get(SESSION).path("label").asString()).isEqualTo("ses-00003");
    }

    @ParameterizedTest
    @EnumSource(
            value = Fault.class,
            names = {"DENIED", "GONE", "REDIRECTED"})
    void whatWillNotPassIsAskedOnce(Fault fault) {
        emulator.faults.at(SESSION, fault, 1);

        assertThat(troubleOf(SESSION)).isEqualTo(Trouble.valueOf(fault.name()));
        assertThat(readers.waits).isEmpty();
    }

    @Test
    void theServerSaysHowLongToWait() throws Exception {
        emulator.faults.at(SESSION, Fault.BUSY, 1);

        readers.flywheel.get(SESSION);

        assertThat(readers.waits).containsExactly(Duration.ofSeconds(2));
    }

    @Test
    void theServerSaysUntilWhenToWait() throws Exception {
        emulator.faults.at(SESSION, Fault.BUSY_UNTIL, 1);

        readers.flywheel.get(SESSION);

        assertThat(readers.waits).containsExactly(Duration.ofSeconds(7));
    }

    @Test
    void waitsBecomeLonger() {
        emulator.faults.always(SESSION, Fault.BROKEN);

        troubleOf(SESSION);

        assertThat(readers.waits.get(0)).isBetween(Duration.ofSeconds(1), Duration.ofMillis(1_500));
        assertThat(readers.waits.get(1)).isBetween(Duration.ofSeconds(2), Duration.ofMillis(3_000));
        assertThat(readers.waits.get(2)).isBetween(Duration.ofSeconds(4), Duration.ofMillis(6_000));
    }

    @Test
    void aKeyThatIsRefusedForOneThingIsGoodForOthers() throws Exception {
        emulator.faults.always(SESSION, Fault.KEY_REFUSED);

        assertThat(troubleOf(SESSION)).isEqualTo(Trouble.REFUSED);
        assertThat(readers.flywheel.get("/auth/status").path("origin").isObject())
                .isTrue();
    }

    @Test
    void aKeyThatIsRefusedForAllEndsAll() {
        Readers others = new Readers(ApiKey.of(emulator.key() + "x"), Set.of());

        DeliveryException refused = catchThrowableOfType(DeliveryException.class, () -> others.flywheel.get(SESSION));

        assertThat(refused.trouble()).isEqualTo(Trouble.KEY_REFUSED);
        assertThat(refused).hasStackTraceContaining("401").message().doesNotContain(Emulator.KEY);
        others.flywheel.close();
    }

    @Test
    void theKeyDoesNotTravelToAnotherHost() throws IOException {
        try (Emulator other = new Emulator(Hierarchy.small())) {
            emulator.elsewhere = "http://127.0.0.1:%d/api%s?signature=secret".formatted(other.port(), SESSION);
            emulator.faults.at(SESSION, Fault.REDIRECTED, 1);

            DeliveryException refused =
                    catchThrowableOfType(DeliveryException.class, () -> readers.flywheel.get(SESSION));

            assertThat(refused.trouble()).isEqualTo(Trouble.REDIRECTED);
            assertThat(refused).message().contains("127.0.0.1").doesNotContain("signature");
            assertThat(other.authorizations).isEmpty();
        }
    }

    @Test
    void isSentOnWithinItsHost() throws Exception {
        emulator.elsewhere = "/api/sessions/" + Hierarchy.session(4);
        emulator.faults.at(SESSION, Fault.REDIRECTED, 1);

        assertThat(readers.flywheel.get(SESSION).path("label").asString()).isEqualTo("ses-00004");
    }

    @Test
    void isNotSentAroundForEver() {
        emulator.elsewhere = "/api" + SESSION;
        emulator.faults.always(SESSION, Fault.REDIRECTED);

        assertThat(troubleOf(SESSION)).isEqualTo(Trouble.REDIRECTED);
    }

    @Test
    void whatTheServerSaysIsShownWithoutTheKey() {
        emulator.hierarchy().remove(Hierarchy.session(3));

        DeliveryException gone = catchThrowableOfType(DeliveryException.class, () -> readers.flywheel.get(SESSION));

        assertThat(gone).hasMessageContaining("404").hasMessageContaining("There is no such thing");
        assertThat(ApiKey.of(emulator.key()).without("you sent " + Emulator.KEY))
                .isEqualTo("you sent …");
    }

    private Trouble troubleOf(String path) {
        return catchThrowableOfType(DeliveryException.class, () -> readers.flywheel.get(path))
                .trouble();
    }
}
