package dozo.verify;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.db.TestDatabase;
import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.registry.RegisteredRows;
import dozo.verify.Proofs.FileProof;
import dozo.verify.Receipts.Proof;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.simple.JdbcClient;

/** For any path it is known which contents it had, and which evidence makes each of them safe. */
class ProofsTest {

    private static final int LIMIT = 100;
    private static final FilePath SHIFT_JIS = FilePath.of(new byte[] {'a', '/', (byte) 0x94, (byte) 0x5c});

    private final JdbcClient jdbc = JdbcClient.create(TestDatabase.fresh());
    private final Receipts receipts = new Receipts(jdbc, () -> Instant.parse("2026-10-01T12:00:00Z"));
    private final Proofs proofs = new Proofs(jdbc);

    @BeforeEach
    void makeAPathThatChanged() {
        RegisteredRows.insert(jdbc);
        jdbc.sql("""
                insert into transfer_unit (experiment_id, site_id, kind, entry_nos, length_bytes, state, run_id, partition_no)
                values (1, 1, 'BUNDLE', '{1,2}', 30, 'VERIFIED', 1, 0);
                insert into directory values (1, 1, ''), (1, 2, 'a');
                insert into ended_entry
                values (1, 1, 2, 1, 10, 0, 420, 'f', '\\x945c', 2), (1, 4, 1, 1, 5, 0, 420, 'f', 'b', 3);
                insert into entry values (1, 2, 2, 1, 20, 0, 420, 'f', 'b'), (1, 3, 2, 2, 11, 0, 420, 'f', '\\x945c');
                insert into manifest (experiment_id, manifest_no, sealed_at, files, bytes, folders, links, entries_new,
                                      entries_changed, entries_gone)
                values (1, 1, '2026-09-30T01:00Z', 3, 35, 0, 0, 3, 0, 0), (1, 2, '2026-10-01T01:00Z', 3, 36, 0, 0, 0, 1, 0),
                       (1, 3, '2026-10-02T01:00Z', 2, 31, 0, 0, 0, 0, 1);
                """).update();
        receipts.count(1);
    }

    @Test
    void aPathIsProvenByTheReceiptsOfEachContentThatItHad() {
        add(2, 1);
        add(3);
        add(3);

        List<FileProof> found = proofs.of(1, 1, SHIFT_JIS, LIMIT);

        assertThat(found).extracting(FileProof::entry).containsExactly(3, 3, 1);
        FileProof current = found.getFirst();
        assertThat(current.holds()).isTrue();
        assertThat(current.sealedAt()).isEqualTo("2026-10-01T01:00:00Z");
        assertThat(current.receipt().sha256()).isEqualTo(digest(3));
        assertThat(current.receipt().id()).as("the latest evidence first").isEqualTo(3);
        assertThat(current.receipt().method()).isEqualTo("exec sha256sum");
        assertThat(current.receipt().wayIn()).isEqualTo("archive");
        FileProof earlier = found.getLast();
        assertThat(earlier.holds()).isFalse();
        assertThat(earlier.goneAt()).isEqualTo("2026-10-01T01:00:00Z");
        assertThat(earlier.receipt().sha256())
                .as("whatever the order in the receipt")
                .isEqualTo(digest(1));
    }

    @Test
    void whatHasNoReceiptIsShownWithoutAndWhatNeverWasIsNot() {
        assertThat(proofs.of(1, 1, SHIFT_JIS, 1)).singleElement().satisfies(proof -> {
            assertThat(proof.entry()).isEqualTo(3);
            assertThat(proof.receipt()).isNull();
        });
        assertThat(proofs.of(1, 1, FilePath.of("a/never"), LIMIT)).isEmpty();
        assertThat(proofs.of(2, 1, SHIFT_JIS, LIMIT)).isEmpty();
    }

    @Test
    void aNameInTheRootFolderIsNotTheSameNameBelow() {
        assertThat(proofs.of(1, 1, FilePath.of("b"), LIMIT))
                .extracting(FileProof::entry)
                .containsExactly(4);
        assertThat(proofs.of(1, 1, FilePath.of("a/b"), LIMIT))
                .extracting(FileProof::entry)
                .containsExactly(2);
    }

    private void add(int... entries) {
        receipts.add(
                1,
                1,
                1,
                1,
                1,
                java.util.Arrays.stream(entries)
                        .mapToObj(entry -> new Proof(entry, digest(entry)))
                        .toList(),
                "archive",
                "exec sha256sum",
                "test");
    }

    private static Digest digest(int entry) {
        return Digest.ofContent(new byte[] {(byte) entry});
    }
}
