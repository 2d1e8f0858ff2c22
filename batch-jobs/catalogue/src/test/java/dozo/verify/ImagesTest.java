package dozo.verify;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.content.Instance;
import dozo.content.Verdict;
import dozo.content.Verdict.State;
import dozo.db.TestDatabase;
import dozo.file.Digest;
import dozo.registry.RegisteredRows;
import dozo.verify.Images.Image;
import dozo.verify.Receipts.Proof;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.core.simple.JdbcClient;

/** An image is safe if every experiment that has it has it whole, and proven at every site. */
class ImagesTest {

    private static final Image IMAGE = new Image("1.2.840.10008.5.1.4.1.1.4", "1.2.3.4");

    private final InstantSource clock = () -> Instant.parse("2026-10-01T12:00:00Z");
    private final JdbcClient jdbc = JdbcClient.create(TestDatabase.fresh());
    private final Contents contents = new Contents(jdbc, clock);
    private final Receipts receipts = new Receipts(jdbc, clock);
    private final Images images = new Images(jdbc, new Proofs(jdbc), contents);

    @BeforeEach
    void register() {
        RegisteredRows.insert(jdbc);
        jdbc.sql("""
                insert into experiment (project_id, code, source_kind, source_root, registered_at, registered_by)
                values (1, 'E2', 'filesystem', '/other', now(), 'test');
                insert into transfer_unit (experiment_id, site_id, kind, entry_nos, length_bytes, state, run_id, partition_no)
                values (1, 1, 'BUNDLE', '{1}', 30, 'VERIFIED', 1, 0);
                """).update();
    }

    private void is(int experiment, int entry) {
        images.add(experiment, Map.of(entry, new Instance(IMAGE.classUid(), IMAGE.instanceUid(), "", null, "", null)));
    }

    private void judged(int experiment, int entry, State state) {
        contents.add(experiment, Map.of(entry, new Verdict(state, "DICOM", state == State.WHOLE ? "" : "cut")));
    }

    private void proven(int experiment, int site, int entry) {
        receipts.add(
                experiment, site, 1, 1, 1, List.of(new Proof(entry, Digest.ofText("it"))), "archive", "exec", "test");
    }

    private void safe(int experiment, int entry) {
        is(experiment, entry);
        judged(experiment, entry, State.WHOLE);
        proven(experiment, 1, entry);
    }

    private boolean isSafe() {
        return images.safe(List.of(IMAGE)).contains(IMAGE);
    }

    @Test
    void whatIsWholeAndProvenIsSafe() {
        safe(1, 1);

        assertThat(isSafe()).isTrue();
        Image other = new Image("1.2.840.10008.5.1.4.1.1.2", IMAGE.instanceUid());
        Image unknown = new Image(IMAGE.classUid(), "1.2.3.5");
        assertThat(images.safe(List.of(other, IMAGE, unknown))).containsExactly(IMAGE);
        assertThat(images.safe(List.of())).isEmpty();
    }

    @Test
    void withoutAReceiptItIsNot() {
        is(1, 1);
        judged(1, 1, State.WHOLE);

        assertThat(isSafe()).isFalse();
    }

    @ParameterizedTest
    @EnumSource(
            value = State.class,
            names = {"BROKEN", "SUSPECT"})
    void whatMayBeCutIsNot(State state) {
        is(1, 1);
        proven(1, 1, 1);
        assertThat(isSafe()).as("not judged").isFalse();

        judged(1, 1, state);
        assertThat(isSafe()).isFalse();

        judged(1, 1, State.WHOLE);
        assertThat(isSafe()).as("judged anew").isTrue();
    }

    @Test
    void everySiteNeedsIt() {
        safe(1, 1);
        jdbc.sql("""
                insert into site (name, host, port, login, root, host_key, identity_file, updated_at)
                values ('dr2', 'dr2.example', 22, 'dozo', '/dr', 'ssh-ed25519 AAAA', '/key', now())
                """).update();
        assertThat(isSafe()).isFalse();

        proven(1, 2, 1);
        assertThat(isSafe()).isTrue();
    }

    @Test
    void withoutASiteNothingIsSafe() {
        safe(1, 1);
        jdbc.sql("update site set removed_at = now()").update();

        assertThat(isSafe()).isFalse();
    }

    @Test
    void aDamagedCopyIsNotSafeUntilItIsRepaired() {
        safe(1, 1);
        jdbc.sql("""
                insert into damage (experiment_id, site_id, entry_no, receipt_id, run_id, found_at, kind)
                values (1, 1, 1, 1, 1, now(), 'ALTERED')
                """).update();
        assertThat(isSafe()).isFalse();

        proven(1, 1, 1);
        assertThat(isSafe()).isTrue();
    }

    @Test
    void theLatestEntryCounts() {
        safe(1, 1);
        is(1, 7);
        assertThat(isSafe()).isFalse();

        safe(1, 8);
        assertThat(isSafe()).isTrue();
    }

    @Test
    void everyExperimentThatHasItNeedsItSafe() {
        safe(1, 1);
        is(2, 1);
        assertThat(isSafe()).isFalse();

        judged(2, 1, State.WHOLE);
        proven(2, 1, 1);
        assertThat(isSafe()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void whatIsToBeErasedIsNotSafe(boolean withdrawn) {
        safe(1, 1);
        jdbc.sql("""
                        insert into erasure (project_id, code, experiment_id, registered_at, reason, requested_by, requested_at,
                                             withdrawn_by, withdrawn_at)
                        values (1, 'E1', 1, now(), 'wish', 'lab', now(), :by, case when :by::text is null then null else now() end)
                        """)
                .param("by", withdrawn ? "lab" : null, java.sql.Types.VARCHAR)
                .update();

        assertThat(isSafe()).isEqualTo(withdrawn);
    }

    @Test
    void aFileThatDoesNotSayWhatItIsIsNoImage() {
        images.add(1, Map.of(1, new Instance(IMAGE.classUid(), "", "1.2", 1, "", 1)));
        is(1, 2);
        is(1, 2);

        assertThat(jdbc.sql("select entry_no from image")
                        .query((row, n) -> row.getInt(1))
                        .list())
                .containsExactly(2);
    }
}
