package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.MDC;

/** The threads of a run name it in their lines of the log, and leave nothing to what their thread does next. */
class LogFieldsTest {

    private final List<Map<String, String>> seen = new ArrayList<>();

    @AfterEach
    void clear() {
        MDC.clear();
    }

    @Test
    void aThreadHasTheFieldsOfTheOneThatStartedIt() throws Exception {
        LogFields.setRun(7);
        Runnable work = LogFields.inherited(() -> {
            LogFields.setExperiment("P1/S1");
            look();
        });
        LogFields.setRun(8);

        Thread.ofVirtual().start(work).join();
        look();

        assertThat(seen).containsExactly(Map.of("run", "7", "experiment", "P1/S1"), Map.of("run", "8"));
    }

    @Test
    void nothingIsLeftBehind() throws Exception {
        LogFields.setRun(7);
        Runnable work = LogFields.inherited(this::look);

        Thread.ofVirtual()
                .start(() -> {
                    work.run();
                    look();
                })
                .join();

        assertThat(seen).containsExactly(Map.of("run", "7"), Map.of());
    }

    private void look() {
        Map<String, String> fields = MDC.getCopyOfContextMap();
        seen.add(fields == null ? Map.of() : fields);
    }
}
