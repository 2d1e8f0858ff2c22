package dozo.collect;

import dozo.collect.Origins.Origin;
import dozo.registry.Refusal;
import dozo.source.delivery.DeliveryException;
import dozo.source.delivery.Limits;
import dozo.source.dicomweb.Orthanc;
import dozo.source.flywheel.Flywheel;
import dozo.source.xnat.Xnat;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import org.springframework.jdbc.core.simple.JdbcClient;

/** Asks origins whether they answer and accept their key, without a running service. */
public final class OriginProbe {

    private static final Duration ANSWER_LIMIT = Duration.ofSeconds(20);
    private static final Limits ONE_TRY =
            new Limits(Limits.USUAL.connect(), ANSWER_LIMIT, ANSWER_LIMIT, 1, Duration.ZERO, Duration.ZERO);

    private OriginProbe() {}

    /** Returns the origins that nights look at, by name. */
    public static List<Origin> active(JdbcClient jdbc) {
        return Origins.active(jdbc);
    }

    /**
     * Sends one reading request. A tree is not asked: it has no server.
     *
     * @throws Refusal if the key cannot be read, or is for another address
     * @throws DeliveryException if there is no good answer
     */
    public static void ask(Terms terms, InstantSource clock) throws IOException, InterruptedException {
        switch (terms.kind()) {
            case FLYWHEEL -> {
                try (Flywheel flywheel = FlywheelCollector.open(terms, ONE_TRY, clock)) {
                    flywheel.ask();
                }
            }
            case DICOMWEB -> {
                try (Orthanc orthanc = DicomwebCollector.open(terms, ONE_TRY, clock)) {
                    orthanc.ask();
                }
            }
            case XNAT -> {
                try (Xnat xnat = XnatCollector.open(terms, ONE_TRY, clock)) {
                    xnat.ask();
                }
            }
            case TREE -> {}
        }
    }
}
