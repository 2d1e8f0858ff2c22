package dozo.run;

import java.util.Map;
import org.slf4j.MDC;

/** What a thread works on: fields of its lines in a structured log. */
final class LogFields {

    private static final String RUN = "run";
    private static final String EXPERIMENT = "experiment";

    private LogFields() {}

    /** Names the run of this thread, and of those that it starts from now on by {@link #inherited}. */
    static void setRun(long run) {
        MDC.put(RUN, String.valueOf(run));
    }

    /** Names the experiment of this thread. */
    static void setExperiment(String experiment) {
        MDC.put(EXPERIMENT, experiment);
    }

    /** Returns work for another thread, which has the fields of this one while it does it. */
    static Runnable inherited(Runnable work) {
        Map<String, String> fields = MDC.getCopyOfContextMap();
        return () -> {
            if (fields != null) {
                MDC.setContextMap(fields);
            }
            try {
                work.run();
            } finally {
                MDC.clear();
            }
        };
    }
}
