package dozo.verify;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.db.Campaign;
import dozo.db.TestDatabase;
import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.ledger.Coverage;
import dozo.ledger.Sight;
import dozo.registry.RegisteredRows;
import dozo.send.DamageKind;
import dozo.verify.BagFiles.ProvenFile;
import dozo.verify.Damages.Damage;
import dozo.verify.Receipts.Proof;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;

/** What is safe is counted from receipts only. */
class ReceiptsTest {

    private static final Digest ONE = Digest.ofContent(new byte[] {1});
    private static final Digest TWO = Digest.ofContent(new byte[] {2});

    private final JdbcTemplate template = new JdbcTemplate(TestDatabase.fresh());
    private final JdbcClient jdbc = JdbcClient.create(template);
    private final Receipts receipts = new Receipts(jdbc, () -> Instant.parse("2026-10-01T12:00:00Z"));
    private final Coverage coverage = new Coverage(jdbc);

    @BeforeEach
    void makeAnExperimentOfTwoFiles() {
        RegisteredRows.insert(jdbc);
        jdbc.sql("""
                insert into transfer_unit (experiment_id, site_id, kind, entry_nos, length_bytes, state, run_id, partition_no)
                values (1, 1, 'BUNDLE', '{1,2}', 30, 'VERIFIED', 1, 0);
                insert into directory values (1, 1, '');
                insert into entry (experiment_id, entry_no, directory_no, since_manifest, size_bytes, modified_ns, mode, kind,
                                   name)
                values (1, 1, 1, 1, 10, 0, 420, 'f', 'a'), (1, 2, 1, 1, 20, 0, 420, 'f', 'b');
                insert into manifest values (1, 1, '2026-09-30T01:00Z', 2, 30, 0, 0, 2, 0, 0);
                """).update();
    }

    @Test
    void withoutReceiptsNothingIsSafeEvenWhenItsUnitSaysVerified() {
        receipts.count(1);

        assertThat(coverage.all(1).filesSafe()).isZero();
        assertThat(coverage.all(1).safe()).isFalse();
        assertThat(coverage.all(1).oldestUnprotected()).isEqualTo("2026-09-30T01:00:00Z");
    }

    @Test
    void anExperimentIsSafeWhenEveryEntryHasAReceipt() {
        add(1, ONE);
        assertThat(coverage.experiment(1, 1).orElseThrow().safe()).isFalse();
        assertThat(coverage.all(1).bytesSafe()).isEqualTo(10);

        add(2, TWO);
        assertThat(coverage.experiment(1, 1).orElseThrow().safe()).isTrue();
        assertThat(coverage.projects(Sight.EVERYTHING, 1, null))
                .singleElement()
                .satisfies(project -> assertThat(project.safe()).isTrue());
        assertThat(coverage.all(1).oldestUnprotected()).isNull();
    }

    @Test
    void twoReceiptsForOneEntryCountOnce() {
        add(1, ONE);
        add(1, ONE);

        assertThat(coverage.all(1).filesSafe()).isEqualTo(1);
    }

    @Test
    void aReceiptOfAnEarlierContentDoesNotProtectTheNewOne() {
        add(1, ONE);
        add(2, TWO);
        jdbc.sql("""
                with gone as (delete from entry where entry_no = 1 returning *)
                insert into ended_entry select *, 2 from gone;
                insert into entry (experiment_id, entry_no, directory_no, since_manifest, size_bytes, modified_ns, mode, kind,
                                   name)
                values (1, 3, 1, 2, 11, 0, 420, 'f', 'a');
                insert into manifest values (1, 2, now(), 2, 31, 0, 0, 0, 1, 0);
                """).update();
        receipts.count(1);

        assertThat(coverage.experiment(1, 1).orElseThrow().safe()).isFalse();
        assertThat(standing())
                .as("the earlier copy stands there until the new one is proven")
                .containsExactly(new ProvenFile(FilePath.of("a"), ONE, 10), new ProvenFile(FilePath.of("b"), TWO, 20));

        add(3, TWO);
        assertThat(standing())
                .containsExactly(new ProvenFile(FilePath.of("b"), TWO, 20), new ProvenFile(FilePath.of("a"), TWO, 11));
    }

    @Test
    void anExperimentNeverLookedAtIsNotSafeAndNoExperimentsAreNotSafe() {
        jdbc.sql("""
                insert into experiment (project_id, code, source_kind, source_root, registered_at, registered_by)
                values (1, 'E2', 'filesystem', '/other', now(), 'test')
                """).update();
        add(1, ONE);
        add(2, TWO);

        assertThat(coverage.all(1).experimentsSafe()).isEqualTo(1);
        assertThat(coverage.all(1).safe()).isFalse();
        assertThat(new Coverage(JdbcClient.create(TestDatabase.fresh())).all(1).safe())
                .isFalse();
    }

    /** Two hundred thousand entries took minutes when every entry searched every receipt; they take a second. */
    @Test
    @Timeout(300)
    void countingAndListingDoNotGrowWithTheSquareOfTheEntries() {
        jdbc.sql("""
                insert into entry (experiment_id, entry_no, directory_no, since_manifest, size_bytes, modified_ns, mode, kind,
                                   name)
                select 1, n, 1, 2, 1, 0, 420, 'f', convert_to('f' || n, 'UTF8') from generate_series(3, 200002) n;
                insert into manifest values (1, 2, now(), 200002, 200030, 0, 0, 200000, 0, 0);
                insert into receipt (experiment_id, site_id, unit_id, run_id, entry_nos, digests, method, worker, verified_at)
                select 1, 1, 1, 1, array_agg(n), decode(repeat('00', 32 * count(*)::integer), 'hex'), 'exec', 'test', now()
                from generate_series(1, 200002) n group by n / 1000
                """).update();

        receipts.count(1);

        assertThat(coverage.experiment(1, 1).orElseThrow().safe()).isTrue();
        assertThat(standing()).hasSize(200_002);
    }

    /**
     * The sums that are carried over from one manifest to the next equal a count of all receipts, whatever happened.
     */
    @Test
    void sumsThatAreCarriedOverAreThoseThatAreCounted() {
        assertSumsAreCarriedOver(3);
    }

    @Test
    @Tag(Campaign.TAG)
    void sumsThatAreCarriedOverManyTimesAreThoseThatAreCounted() {
        assertSumsAreCarriedOver(Campaign.times(20));
    }

    private void assertSumsAreCarriedOver(int manifests) {
        for (long seed = 1; seed <= manifests; seed++) {
            Random random = new Random(seed);
            int last = jdbc.sql("select max(entry_no) from entry_version")
                    .query(Integer.class)
                    .single();
            int manifest = 1
                    + jdbc.sql("select max(manifest_no) from manifest")
                            .query(Integer.class)
                            .single();
            List<Integer> current = jdbc.sql("select entry_no from entry order by 1")
                    .query(Integer.class)
                    .list();
            receipts.count(1);
            List<Proof> proofs = current.stream()
                    .filter(entry -> random.nextInt(3) == 0 && unproven(entry))
                    .map(entry -> new Proof(entry, ONE))
                    .toList();
            if (!proofs.isEmpty()) {
                receipts.add(1, 1, 1, 1, 1, proofs, "archive", "exec", "test");
                receipts.addToProtection(1, 1, proofs);
            }
            damage(current.stream()
                    .filter(entry -> random.nextInt(8) == 0 && !unproven(entry))
                    .toList());
            for (int entry : current) {
                if (random.nextInt(4) == 0) {
                    jdbc.sql("""
                            with gone as (delete from entry where entry_no = ? returning *)
                            insert into ended_entry select *, ? from gone
                            """).params(entry, manifest).update();
                }
            }
            for (int entry = last + 1; entry <= last + random.nextInt(5); entry++) {
                jdbc.sql("""
                        insert into entry (experiment_id, entry_no, directory_no, since_manifest, size_bytes, modified_ns, mode,
                                           kind, name)
                        values (1, ?, 1, ?, ?, 0, 420, 'f', convert_to('f' || ?, 'UTF8'))
                        """)
                        .params(entry, manifest, 1 + random.nextInt(100), entry)
                        .update();
            }
            jdbc.sql("""
                    insert into manifest select 1, ?, now(), count(*), coalesce(sum(size_bytes), 0), 0, 0, 0, 0, 0
                    from entry
                    """).params(manifest).update();

            receipts.carryOver(1);
            Coverage.Totals carried = coverage.all(1);
            receipts.count(1);

            assertThat(carried).as("seed %d", seed).isEqualTo(coverage.all(1));
        }
    }

    private boolean unproven(int entry) {
        return jdbc.sql("select not exists (select from proven_entry where entry_no = ?)")
                .param(entry)
                .query(Boolean.class)
                .single();
    }

    private void damage(List<Integer> entries) {
        List<Damage> damages = entries.stream()
                .map(entry -> new Damage(
                        entry,
                        jdbc.sql("select max(receipt_id) from entry_receipt where entry_no = ?")
                                .param(entry)
                                .query(Long.class)
                                .single(),
                        DamageKind.ALTERED,
                        TWO))
                .toList();
        new Damages(template).add(1, 1, 1, damages, Instant.parse("2026-10-01T12:00:00Z"));
    }

    private void add(int entry, Digest digest) {
        receipts.add(1, 1, 1, 1, 1, List.of(new Proof(entry, digest)), "archive", "exec sha256sum", "test");
        receipts.count(1);
    }

    private List<ProvenFile> standing() {
        List<ProvenFile> standing = new ArrayList<>();
        new BagFiles(jdbc).each(1, 1, 0, (_, file, stands, stood) -> standing.add(file));
        return standing;
    }
}
