package dozo.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.ledger.Findings.Acknowledgement;
import dozo.ledger.Findings.Filter;
import dozo.ledger.Findings.Finding;
import dozo.ledger.Findings.KeptFinding;
import dozo.ledger.Findings.Reason;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.jdbc.core.JdbcTemplate;

/** A finding is open until a later run has looked at the same again or a person has acknowledged it. */
class FindingsTest {

    private static final Filter ANY = new Filter(null, null, null, null, null);

    private final Nights nights = new Nights();
    private final Findings findings =
            new Findings(new JdbcTemplate(nights.database), () -> Instant.parse("2026-10-01T00:00:00Z"));
    private int first;
    private int second;

    @BeforeEach
    void experiments() {
        first = nights.experiment(1, "E1", null, null, null);
        second = nights.experiment(2, "E2", null, null, null);
        end();
    }

    @ParameterizedTest
    @CsvSource({
        "nightlyBackup, UNREADABLE, nightlyBackup, true",
        "nightlyBackup, SITE_CHANGED, nightlyBackup, false",
        "nightlyBackup, UNREADABLE, scrub, false",
        "retry, UNREADABLE, nightlyBackup, true",
        "nightlyBackup, UNREADABLE, retry, true",
        "scrub, DAMAGED, scrub, true",
        "scrub, MISSING, scrub, true",
        "scrub, DAMAGED, nightlyBackup, true",
        "scrub, UNEXPECTED, nightlyBackup, false",
        "scrub, UNEXPECTED, scrub, false",
        "scrub, TAGS_ALTERED, scrub, false",
        "scrub, UNPROVEN, nightlyBackup, false",
        "scrub, UNPROVEN, scrub, true"
    })
    void aLaterRunSpeaksForWhatItHasLookedAt(String earlier, Problem reason, String later, boolean superseded) {
        long id = found(run(earlier), first, reason);
        end();

        findings.supersede(run(later));

        assertThat(kept(id).open()).isEqualTo(!superseded);
    }

    @Test
    void aRetrySpeaksForItsOwnExperimentsOnly() {
        long night = run("nightlyBackup");
        long own = found(night, first, Problem.UNREADABLE);
        long other = found(night, second, Problem.UNREADABLE);
        long whole = found(night, null, Problem.RUN_FAILED);
        end();

        findings.supersede(run("retry"));

        assertThat(kept(own).open()).isFalse();
        assertThat(kept(other).open()).isTrue();
        assertThat(kept(whole).open()).isTrue();
    }

    @Test
    void aNightSpeaksForNoOtherSite() {
        nights.site("other");
        long id = found(run("nightlyBackup"), first, Problem.UNREADABLE);
        end();
        long later = run("nightlyBackup");
        nights.jdbc.sql("update run set site_id = 2 where run_id = " + later).update();

        findings.supersede(later);

        assertThat(kept(id).open()).isTrue();
    }

    @Test
    void damageThatIsNotRepairedStaysOpenAfterANightAndWhatWasNotReadAfterAScrub() {
        nights.seal(first, 2);
        nights.at("2026-09-30T00:00:00Z").prove(first, 1, 2);
        long scrub = run("scrub");
        long damaged = found(scrub, first, Problem.DAMAGED);
        long unproven = found(scrub, first, Problem.UNPROVEN);
        nights.jdbc.sql("""
                        insert into damage (experiment_id, site_id, entry_no, receipt_id, run_id, found_at, kind)
                        select experiment_id, 1, 1, receipt_id, :run, now(), 'MISSING' from receipt
                        """).param("run", scrub).update();
        end();

        findings.supersede(run("nightlyBackup"));
        assertThat(kept(damaged).open()).as("not repaired").isTrue();
        nights.prove(first, 1);
        end();
        findings.supersede(run("nightlyBackup"));
        assertThat(kept(damaged).open()).as("repaired").isFalse();

        end();
        findings.supersede(run("scrub"));
        assertThat(kept(unproven).open()).as("not read since").isTrue();
        nights.jdbc
                .sql("update stored set last_read_at = '2026-10-02T00:00:00Z'")
                .update();
        end();
        findings.supersede(run("scrub"));
        assertThat(kept(unproven).open()).as("read since").isFalse();
    }

    @Test
    void whatLiesInABagIsOpenUntilTheBagIsExaminedAgain() {
        nights.seal(first, 1);
        nights.prove(first, 1);
        long id = found(run("scrub"), first, Problem.UNEXPECTED);
        end();
        findings.supersede(run("scrub"));
        assertThat(kept(id).open()).isTrue();

        nights.jdbc
                .sql("update protection set examined_at = '2026-10-02T00:00:00Z'")
                .update();
        end();
        findings.supersede(run("scrub"));
        assertThat(kept(id).open()).isFalse();
    }

    @Test
    void theyAreListedLatestFirstByWhatIsAsked() {
        long night = run("nightlyBackup");
        long a = found(night, first, Problem.UNREADABLE);
        long b = found(night, second, Problem.CHANGED);
        long c = found(night, null, Problem.SITE_CHANGED);
        findings.acknowledge(b, new Acknowledgement("admin", Instant.EPOCH, "known"));

        assertThat(ids(Sight.EVERYTHING, ANY)).containsExactly(c, b, a);
        assertThat(ids(Sight.EVERYTHING, new Filter(true, null, null, null, null)))
                .containsExactly(c, a);
        assertThat(ids(Sight.EVERYTHING, new Filter(false, null, null, null, null)))
                .containsExactly(b);
        assertThat(ids(Sight.EVERYTHING, new Filter(null, Problem.CHANGED, null, null, null)))
                .containsExactly(b);
        assertThat(ids(Sight.EVERYTHING, new Filter(null, null, "P1", null, null)))
                .containsExactly(a);
        assertThat(ids(Sight.EVERYTHING, new Filter(null, null, null, night + 1, null)))
                .isEmpty();
        assertThat(ids(Sight.EVERYTHING, Filter.openAt(1))).containsExactly(c, a);
        assertThat(ids(Sight.EVERYTHING, Filter.openAt(2))).isEmpty();
        assertThat(ids(Sight.of(List.of("P1")), ANY)).containsExactly(a);
        assertThat(findings.page(Sight.EVERYTHING, ANY, c, 1))
                .extracting(KeptFinding::id)
                .containsExactly(b);
        assertThat(findings.countOpen(Sight.EVERYTHING, 1)).isEqualTo(2);
        assertThat(findings.countOpen(Sight.of(List.of("P1")), 1)).isEqualTo(1);
        assertThat(findings.find(Sight.of(List.of("P1")), b)).isEmpty();
    }

    @Test
    void theyAreCountedNoFurtherThanPeopleDo() {
        long night = run("nightlyBackup");
        found(night, second, Problem.CHANGED);
        Finding missing = new Finding(first, Problem.MISSING, FilePath.of("a"), "a message");
        findings.add(night, Collections.nCopies(Findings.COUNTED_MAX, missing));

        assertThat(findings.countOpen(Sight.EVERYTHING, 1)).isEqualTo(1_001);
        assertThat(findings.countOpen(Sight.of(List.of("P1")), 1)).isEqualTo(1_000);
        assertThat(findings.openReasons(Sight.EVERYTHING, 1))
                .containsExactly(new Reason(Problem.MISSING, 1_000), new Reason(Problem.CHANGED, 1));
        assertThat(Findings.words(1_000)).isEqualTo("1,000");
        assertThat(Findings.words(1_001)).isEqualTo("1,000+");
    }

    @Test
    void whatWasSaidFirstStays() {
        long id = found(run("nightlyBackup"), first, Problem.UNREADABLE);

        assertThat(findings.acknowledge(id, new Acknowledgement("admin", Instant.EPOCH, "known")))
                .isTrue();
        assertThat(findings.acknowledge(id, new Acknowledgement("other", Instant.EPOCH, "no")))
                .isFalse();

        assertThat(kept(id).acknowledgement()).isEqualTo(new Acknowledgement("admin", Instant.EPOCH, "known"));
        assertThat(kept(id).supersededBy()).isNull();
    }

    private long run(String kind) {
        long id = nights.jdbc
                .sql("""
                        insert into run (kind, site_id, state, requested_by, started_at, retry_of)
                        values (:kind, 1, 'RUNNING', 'test', now(), case when :kind = 'retry' then 1 end) returning run_id
                        """)
                .param("kind", kind)
                .query((row, n) -> row.getLong(1))
                .single();
        if (kind.equals("retry")) {
            nights.jdbc
                    .sql("insert into run_experiment values (:run, :experiment)")
                    .param("run", id)
                    .param("experiment", first)
                    .update();
        }
        return id;
    }

    private void end() {
        nights.jdbc
                .sql("update run set state = 'COMPLETE', ended_at = now() where ended_at is null")
                .update();
    }

    private long found(long run, @Nullable Integer experiment, Problem reason) {
        findings.add(run, List.of(new Finding(experiment, reason, FilePath.of("a"), "a message")));
        return nights.jdbc
                .sql("select max(finding_id) from finding")
                .query((row, n) -> row.getLong(1))
                .single();
    }

    private KeptFinding kept(long id) {
        return findings.find(Sight.EVERYTHING, id).orElseThrow();
    }

    private List<Long> ids(Sight sight, Filter wanted) {
        return findings.page(sight, wanted, Long.MAX_VALUE, 100).stream()
                .map(KeptFinding::id)
                .toList();
    }
}
