package dozo.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.ledger.Findings.Acknowledgement;
import dozo.ledger.Findings.Finding;
import dozo.ledger.Findings.FindingGroup;
import dozo.ledger.Findings.KeptFinding;
import dozo.ledger.Findings.Reason;
import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.jdbc.core.JdbcTemplate;

/** A finding is open until a later run has checked the same item again or a person has acknowledged it. */
class FindingsTest {

    private static final FindingFilter ANY = new FindingFilter(null, null, null, null, null, null);

    /** Of the first experiment. */
    private static final Finding UNREADABLE = new Finding(1, Problem.UNREADABLE, FilePath.of("a"), "a message");

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
        "nightlyBackup, UNREADABLE, rebuild, false",
        "scrub, DAMAGED, scrub, true",
        "scrub, MISSING, scrub, true",
        "scrub, DAMAGED, nightlyBackup, true",
        "scrub, NOT_HELD, scrub, true",
        "scrub, NOT_HELD, nightlyBackup, true",
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
    void findingsOfOneCauseAreOneGroupAndTheGravestIsFirst() {
        long night = run("nightlyBackup");
        long special = found(night, first, Problem.SPECIAL);
        findings.add(
                night,
                IntStream.range(0, 400)
                        .mapToObj(n -> new Finding(first, Problem.UNREADABLE, FilePath.of("a" + n), "a message"))
                        .toList());
        long other = found(night, second, Problem.UNREADABLE);
        long whole = found(night, null, Problem.SITE_FULL);
        long damaged = found(night, second, Problem.DAMAGED);
        end();

        List<FindingGroup> groups = findings.groups(Sight.EVERYTHING, FindingFilter.OPEN, null, 10);

        assertThat(groups)
                .extracting(group -> group.latest().id(), FindingGroup::count)
                .containsExactly(
                        tuple(damaged, 1L),
                        tuple(whole, 1L),
                        tuple(other, 1L),
                        tuple(special + 400, 400L),
                        tuple(special, 1L));
        assertThat(findings.groups(Sight.EVERYTHING, FindingFilter.OPEN, other, 1))
                .containsExactly(groups.get(3));
        assertThat(findings.groups(Sight.EVERYTHING, FindingFilter.OPEN, special, 1))
                .isEmpty();
        assertThat(findings.groups(Sight.EVERYTHING, of(Problem.UNREADABLE, "P1/E1"), null, 10))
                .containsExactly(groups.get(3));
        assertThat(findings.groups(Sight.EVERYTHING, of(null, FindingFilter.NO_EXPERIMENT), null, 10))
                .containsExactly(groups.get(1));
        assertThat(findings.groups(Sight.of(List.of("P1")), FindingFilter.OPEN, null, 10))
                .containsExactly(groups.get(3), groups.get(4));
    }

    @Test
    void manyFindingsAreAcknowledgedAtOnceUpToTheLastOneThatWasSeen() {
        long night = run("nightlyBackup");
        long a = found(night, first, Problem.UNREADABLE);
        long b = found(night, first, Problem.UNREADABLE, "b");
        long other = found(night, second, Problem.UNREADABLE);
        long late = found(night, first, Problem.UNREADABLE, "c");
        Acknowledgement before = new Acknowledgement("first", Instant.EPOCH, "known");
        findings.acknowledge(a, before);
        end();
        FindingFilter cause = of(Problem.UNREADABLE, "P1/E1");
        Acknowledgement known = new Acknowledgement("admin", Instant.EPOCH, "a damaged disk");

        assertThat(findings.acknowledge(Sight.of(List.of("P2")), cause, late, known))
                .isZero();
        assertThat(findings.acknowledge(Sight.EVERYTHING, cause, other, known)).isEqualTo(1);

        assertThat(kept(a).acknowledgement()).isEqualTo(before);
        assertThat(kept(b).acknowledgement()).isEqualTo(known);
        assertThat(kept(other).open()).isTrue();
        assertThat(kept(late).open()).isTrue();
    }

    private static FindingFilter of(@Nullable Problem reason, String experiment) {
        return new FindingFilter(true, reason, null, experiment, null, null);
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
        assertThat(ids(Sight.EVERYTHING, new FindingFilter(true, null, null, null, null, null)))
                .containsExactly(c, a);
        assertThat(ids(Sight.EVERYTHING, new FindingFilter(false, null, null, null, null, null)))
                .containsExactly(b);
        assertThat(ids(Sight.EVERYTHING, new FindingFilter(null, Problem.CHANGED, null, null, null, null)))
                .containsExactly(b);
        assertThat(ids(Sight.EVERYTHING, new FindingFilter(null, null, "P1", null, null, null)))
                .containsExactly(a);
        assertThat(ids(Sight.EVERYTHING, new FindingFilter(null, null, null, null, night + 1, null)))
                .isEmpty();
        assertThat(ids(Sight.EVERYTHING, FindingFilter.openAt(1))).containsExactly(c, a);
        assertThat(ids(Sight.EVERYTHING, FindingFilter.openAt(2))).isEmpty();
        assertThat(ids(Sight.of(List.of("P1")), ANY)).containsExactly(a);
        assertThat(findings.page(Sight.EVERYTHING, ANY, c, 1))
                .extracting(KeptFinding::id)
                .containsExactly(b);
        assertThat(findings.count(Sight.EVERYTHING, FindingFilter.openAt(1))).isEqualTo(2);
        assertThat(findings.count(Sight.of(List.of("P1")), FindingFilter.openAt(1)))
                .isEqualTo(1);
        assertThat(findings.find(Sight.of(List.of("P1")), b)).isEmpty();
    }

    @Test
    void theyAreCountedNoFurtherThanPeopleDo() {
        long night = run("nightlyBackup");
        found(night, second, Problem.CHANGED);
        findings.add(
                night,
                IntStream.range(0, Findings.COUNTED_MAX)
                        .mapToObj(n -> new Finding(first, Problem.MISSING, FilePath.of("a" + n), "a message"))
                        .toList());

        assertThat(findings.count(Sight.EVERYTHING, FindingFilter.openAt(1))).isEqualTo(1_001);
        assertThat(findings.count(Sight.of(List.of("P1")), FindingFilter.openAt(1)))
                .isEqualTo(1_000);
        assertThat(findings.openReasons(Sight.EVERYTHING, 1))
                .containsExactly(new Reason(Problem.MISSING, 1_000), new Reason(Problem.CHANGED, 1));
        assertThat(Findings.words(1_000)).isEqualTo("1,000");
        assertThat(Findings.words(1_001)).isEqualTo("1,000+");
    }

    @Test
    void whatThreeNightsFindIsOneAndIsListedUnderEach() {
        long one = night(UNREADABLE);
        long two = night(UNREADABLE);
        long without = run("scrub");
        end();
        long three = night(saying(UNREADABLE, "cannot be opened"));

        KeptFinding kept = only(three);
        assertThat(count("finding")).isEqualTo(1);
        assertThat(kept.run()).isEqualTo(one);
        assertThat(kept.lastRun()).isEqualTo(three);
        assertThat(kept.message()).isEqualTo("cannot be opened");
        assertThat(kept.open()).isTrue();
        assertThat(only(one)).isEqualTo(only(two)).isEqualTo(kept);
        assertThat(findings.of(Sight.EVERYTHING, without, 0, 10)).isEmpty();
        assertThat(findings.count(without)).isZero();
        assertThat(findings.count(two)).isEqualTo(1);
        assertThat(findings.any(two, first)).isTrue();
        assertThat(findings.any(without, first)).isFalse();
        assertThat(ids(Sight.EVERYTHING, new FindingFilter(null, null, null, null, two, null)))
                .containsExactly(kept.id());
        assertThat(findings.latest(first, 10)).containsExactly(kept);
    }

    @Test
    void whatWasGoneAndComesAgainIsAnother() {
        long one = night(UNREADABLE);
        long without = night();
        long again = night(UNREADABLE);

        assertThat(only(one).supersededBy()).isEqualTo(without);
        assertThat(only(again).id()).isNotEqualTo(only(one).id());
        assertThat(only(again).run()).isEqualTo(again);
    }

    @Test
    void aRunThatDidNotComeToItsEndSaysOfNothingThatItIsGone() {
        long one = night(UNREADABLE);
        run("nightlyBackup");
        end();
        long three = night(UNREADABLE);

        assertThat(only(three).id()).isEqualTo(only(one).id());
    }

    @Test
    void whatIsAcknowledgedHoldsWhileItSaysTheSame() {
        long id = only(night(UNREADABLE)).id();
        findings.acknowledge(id, new Acknowledgement("admin", Instant.EPOCH, "known"));

        KeptFinding same = only(night(UNREADABLE));
        assertThat(same.id()).isEqualTo(id);
        assertThat(same.open()).isFalse();
        assertThat(findings.count(Sight.EVERYTHING, FindingFilter.openAt(1))).isZero();

        KeptFinding other = only(night(saying(UNREADABLE, "input/output error")));
        assertThat(other.id()).isNotEqualTo(id);
        assertThat(other.open()).as("nobody has read that").isTrue();
        assertThat(kept(id).supersededBy()).isEqualTo(other.run());
        assertThat(kept(id).message()).as("what was acknowledged").isEqualTo("a message");
    }

    @Test
    void theSameOfAnotherPathExperimentSiteOrKindOfRunIsAnother() {
        nights.site("other");
        night(UNREADABLE);
        findings.add(
                run("nightlyBackup"),
                List.of(
                        new Finding(second, Problem.UNREADABLE, FilePath.of("a"), "a message"),
                        new Finding(null, Problem.UNREADABLE, FilePath.of("a"), "a message"),
                        new Finding(first, Problem.UNREADABLE, null, "a message"),
                        new Finding(first, Problem.UNREADABLE, FilePath.of("b"), "a message"),
                        new Finding(first, Problem.CHANGED, FilePath.of("a"), "a message")));
        end();
        assertThat(count("finding")).isEqualTo(6);

        found(run("scrub"), first, Problem.UNREADABLE);
        end();
        assertThat(count("finding")).isEqualTo(7);
        long there = run("nightlyBackup");
        nights.jdbc.sql("update run set site_id = 2 where run_id = " + there).update();
        found(there, first, Problem.UNREADABLE);
        end();
        assertThat(count("finding")).isEqualTo(8);
        found(run("retry"), first, Problem.UNREADABLE);
        assertThat(count("finding")).as("a retry looks as a night does").isEqualTo(8);
    }

    @Test
    void whatARunFindsTwiceOfOneThingInOtherWordsIsTwoAndInTheSameWordsOne() {
        Finding refused = new Finding(null, Problem.SITE_REFUSED, null, "x cannot be removed");
        long one = night(refused, refused, saying(refused, "y cannot be removed"));
        assertThat(findings.count(one)).isEqualTo(2);
        KeptFinding y = findings.of(Sight.EVERYTHING, one, 0, 10).getLast();

        long two = night(saying(refused, "y cannot be removed"), saying(refused, "z cannot be removed"));

        assertThat(count("finding")).isEqualTo(2);
        assertThat(findings.of(Sight.EVERYTHING, two, 0, 10))
                .extracting(KeptFinding::message)
                .containsExactlyInAnyOrder("z cannot be removed", "y cannot be removed");
        assertThat(kept(y.id()).message()).as("keeps its words").isEqualTo("y cannot be removed");
    }

    @Test
    void addingTwiceIsHarmlessAndWhatIsSaidOnceIsSaidEachTime() {
        long night = run("nightlyBackup");
        found(night, first, Problem.UNREADABLE);
        found(night, first, Problem.UNREADABLE);
        assertThat(findings.count(night)).isEqualTo(1);
        found(night, null, Problem.SITE_CHANGED);
        end();
        found(run("nightlyBackup"), null, Problem.SITE_CHANGED);

        assertThat(count("finding where reason = 'SITE_CHANGED'")).isEqualTo(2);
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

    /** So that a run that meets the problem in every unit reports it once, in every night in which it stands. */
    @Test
    void aRunKnowsWhatItFoundOfAWholeExperimentAlsoWhenAnEarlierOneDid() {
        Finding silent = new Finding(first, Problem.UNREADABLE, null, "not answered for 600 s");
        night(silent);
        long again = run("nightlyBackup");
        assertThat(findings.anyOfWhole(again, first, Problem.UNREADABLE)).isFalse();

        findings.add(again, List.of(saying(silent, "not answered for 601 s")));

        assertThat(findings.anyOfWhole(again, first, Problem.UNREADABLE)).isTrue();
        assertThat(findings.anyOfWhole(again, second, Problem.UNREADABLE)).isFalse();
    }

    /** A complete night that finds these. */
    private long night(Finding... found) {
        long run = run("nightlyBackup");
        findings.add(run, List.of(found));
        findings.supersede(run);
        end();
        return run;
    }

    private static Finding saying(Finding finding, String message) {
        return new Finding(finding.experimentId(), finding.reason(), finding.path(), message);
    }

    /** Returns the only finding of a run. */
    private KeptFinding only(long run) {
        List<KeptFinding> all = findings.of(Sight.EVERYTHING, run, 0, 10);
        assertThat(all).hasSize(1);
        return all.getFirst();
    }

    private long count(String from) {
        return nights.jdbc.sql("select count(*) from " + from).query(Long.class).single();
    }

    private long run(String kind) {
        long id = nights.jdbc.sql("""
                        insert into run (kind, site_id, state, requested_by, started_at, retry_of)
                        values (:kind, 1, 'RUNNING', 'test', now(), case when :kind = 'retry' then 1 end) returning run_id
                        """).param("kind", kind).query(Long.class).single();
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
        return found(run, experiment, reason, "a");
    }

    private long found(long run, @Nullable Integer experiment, Problem reason, String path) {
        findings.add(run, List.of(new Finding(experiment, reason, FilePath.of(path), "a message")));
        return nights.jdbc
                .sql("select max(finding_id) from finding")
                .query(Long.class)
                .single();
    }

    private KeptFinding kept(long id) {
        return findings.find(Sight.EVERYTHING, id).orElseThrow();
    }

    private List<Long> ids(Sight sight, FindingFilter wanted) {
        return findings.page(sight, wanted, Long.MAX_VALUE, 100).stream()
                .map(KeptFinding::id)
                .toList();
    }
}
