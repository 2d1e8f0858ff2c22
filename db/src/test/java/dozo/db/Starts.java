package dozo.db;

import java.util.EnumMap;
import java.util.Map;

/** Counts what tests start that is dear, so that the suite can print it for each class. */
public enum Starts {
    /** A whole web service in this process. */
    SERVICE,
    /** The jobs without the web, in this process. */
    NIGHT,
    /** A Java process of its own. */
    JVM,
    /** A browser, or a server that is not ours: Keycloak, Orthanc, RabbitMQ. */
    SERVER,
    /** A fresh database. */
    DATABASE;

    private static final Map<Starts, Integer> COUNTS = new EnumMap<>(Starts.class);

    /**
     * Counts one start.
     *
     * @throws AssertionError if the running class starts more services than it declares, see {@link StartsServices}
     */
    public void count() {
        if (this == SERVICE) {
            ServicesStarted.count();
        }
        synchronized (COUNTS) {
            COUNTS.merge(this, 1, Integer::sum);
        }
    }

    /** Returns the number of starts in this process since it began. */
    public static Map<Starts, Integer> counts() {
        synchronized (COUNTS) {
            return new EnumMap<>(COUNTS);
        }
    }
}
