package dozo.message;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.RunningService;
import dozo.alert.Condition.Kind;
import dozo.alert.Outbox.Message;
import dozo.alert.Outbox.Occasion;
import dozo.alert.Recipients.Channel;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Mail says what the pages say. */
class TextTest {

    @TempDir
    Path folder;

    @AutoClose
    private final RunningService service = RunningService.shared();

    @Test
    void whatLooksLikeMalwareIsSaidWithItsNumbersWhileItIsSo() throws Exception {
        service.saveUnreachable("dr");
        service.createExperiment("Q1", "V1", folder.resolve("source"));
        service.createExperiment("Q2", "V1", folder.resolve("other"));
        service.jdbc().sql("""
                        insert into manifest (experiment_id, manifest_no, sealed_at, files, bytes, folders, links, entries_new,
                                              entries_changed, entries_gone)
                        select experiment_id, 1, now(), 121, 1210, 0, 0, 121, 0, 0 from experiment;
                        insert into frozen_experiment (experiment_id, manifest_no, frozen_at, entries_lost, bytes_lost, message)
                        select experiment_id, 1, now(), 121, 1210, 'x' from experiment
                        """).update();

        assertThat(subject(Occasion.RAISED, "en"))
                .isEqualTo("Dozo: All 121 files of Q1/V1 vanished or changed at once: deleted, or encrypted by malware?"
                        + " No site has a complete copy.");
        assertThat(subject(Occasion.REMINDER, "ja")).contains("Q1/V1で、全 121 ファイルが一度に消失または変化しました。");
        assertThat(subject(Occasion.CLEARED, "en"))
                .contains("Too much of 1 experiment vanished or changed at once (Q1/V1)");
    }

    private String subject(Occasion occasion, String language) {
        Message message = new Message(
                1,
                "it",
                Channel.MAIL,
                "it@example.org",
                language,
                List.of("Q1"),
                occasion,
                Kind.FROZEN,
                "dr",
                "Q1",
                1,
                "Q1/V1",
                Instant.now(),
                null,
                0,
                Instant.now());
        return service.bean(Text.class).of(message).subject();
    }
}
