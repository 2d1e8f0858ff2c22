package dozo.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.ledger.Coverage.Group;
import dozo.ledger.Coverage.Totals;
import dozo.ledger.Coverage.Unprotected;
import dozo.ledger.PastCoverage.History;
import java.sql.Timestamp;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Stored totals answer what was safe, now and at any moment, by how the experiments were acquired. */
class CoverageTest {

    private final Nights nights = new Nights();
    private final Coverage coverage = new Coverage(nights.jdbc);
    private final PastCoverage past = new PastCoverage(nights.jdbc);

    @Test
    void sumsAreByEachDimensionAndTheUnknownIsAGroupOfItsOwn() {
        nights.seal(nights.experiment(1, "A", "MR", "T7", "2026-09-30"), 2);
        nights.seal(nights.experiment(1, "B", "MEG", "M1", "2026-10-01"), 3);
        nights.seal(nights.experiment(2, "C", null, null, null), 4);

        assertThat(filesBy(Dimension.PROJECT)).containsExactly("P1=5", "P2=4");
        assertThat(filesBy(Dimension.EXPERIMENT)).containsExactly("P1/A=2", "P1/B=3", "P2/C=4");
        assertThat(filesBy(Dimension.MODALITY)).containsExactly("MEG=3", "MR=2", "null=4");
        assertThat(filesBy(Dimension.SCANNER)).containsExactly("M1=3", "T7=2", "null=4");
        assertThat(filesBy(Dimension.MONTH)).containsExactly("2026-09=2", "2026-10=3", "null=4");
        assertThat(coverage.all(1).files()).isEqualTo(9);
    }

    @Test
    void theSumsOfProjectsTogetherAreThoseOverEverything() {
        assertThat(Totals.together(coverage.projects(Sight.EVERYTHING, 1, null)))
                .isEqualTo(coverage.all(1));
        int experiment = nights.at("2026-09-01T00:00:00Z").experiment(1, "A", "MR", null, null);
        nights.at("2026-09-01T20:00:00Z").seal(experiment, 3);
        nights.prove(experiment, 1, 2, 3);
        nights.at("2026-09-01T22:00:00Z").settle(experiment);
        assertThat(Totals.together(coverage.projects(Sight.EVERYTHING, 1, null)))
                .isEqualTo(coverage.all(1));
        nights.at("2026-09-03T00:00:00Z").experiment(2, "B", null, null, null);
        nights.seal(nights.at("2026-09-02T00:00:00Z").experiment(2, "C", null, null, null), 2);

        assertThat(Totals.together(coverage.projects(Sight.EVERYTHING, 1, null)))
                .isEqualTo(coverage.all(1));
    }

    @Test
    void aProjectWithoutExperimentsIsNotLeftOut() {
        Instant at = Instant.parse("2026-09-02T00:00:00Z");
        nights.at("2026-09-01T00:00:00Z").experiment(1, "A", "MR", null, null);
        nights.jdbc
                .sql("insert into project (code, created_at) values ('P8', :at), ('P9', :at)")
                .param("at", Timestamp.from(at))
                .update();
        nights.jdbc.sql("""
                        update project set retired_at = now(), retired_by = 'x', retired_reason = 'x' where code = 'P9'
                        """).update();

        List<Totals> projects = coverage.projects(Sight.EVERYTHING, 1, null);

        assertThat(projects).extracting(Totals::project).containsExactly("P1", "P2", "P8");
        assertThat(projects.getLast()).isEqualTo(new Totals("P8", false, 0, 0, 0, 0, 0, 0, null, 0));
        assertThat(coverage.groups(Sight.of(List.of("P8")), Dimension.PROJECT, 1, null, "", 9))
                .extracting(Group::name)
                .containsExactly("P8");
        assertThat(coverage.groups(Sight.EVERYTHING, Dimension.MODALITY, 1, null, "", 9))
                .extracting(Group::name)
                .containsExactly("MR");
        assertThat(coverage.projects(Sight.EVERYTHING, 1, at.minusSeconds(1)))
                .as("it did not exist yet")
                .extracting(Totals::project)
                .contains("P1")
                .doesNotContain("P8");
    }

    @Test
    void beforeRecordsBeganAtASiteNothingIsKnown() {
        int experiment = nights.at("2026-09-01T00:00:00Z").experiment(1, "A", "MR", null, null);
        Instant began = Instant.parse("2026-09-01T20:00:00Z");
        assertThat(coverage.isKnown(1, began)).as("nothing is recorded").isFalse();
        assertThat(coverage.isKnown(1, null)).as("now").isTrue();
        nights.at("2026-09-01T20:00:00Z").seal(experiment, 3);

        assertThat(coverage.isKnown(1, began)).isTrue();
        assertThat(coverage.isKnown(1, began.minusSeconds(1))).isFalse();
        for (Dimension by : List.of(Dimension.PROJECT, Dimension.EXPERIMENT, Dimension.MODALITY)) {
            assertThat(coverage.groups(Sight.EVERYTHING, by, 1, began.minusSeconds(1), "", 9))
                    .singleElement()
                    .satisfies(group ->
                            assertThat(group.totals()).as("unknown, not 0 %").isNull());
            assertThat(coverage.groups(Sight.EVERYTHING, by, 1, began, "", 9))
                    .singleElement()
                    .satisfies(group -> assertThat(group.totals()).isNotNull());
        }
    }

    @Test
    void groupsAreReadPageByPageAndTheUnknownComesLast() {
        nights.experiment(1, "A", "MR", null, null);
        nights.experiment(1, "B", "EEG", null, null);
        nights.experiment(1, "C", null, null, null);

        assertThat(coverage.groups(Sight.EVERYTHING, Dimension.MODALITY, 1, null, "", 1))
                .extracting(Group::name)
                .containsExactly("EEG");
        assertThat(coverage.groups(Sight.EVERYTHING, Dimension.MODALITY, 1, null, "EEG", 9))
                .extracting(Group::name)
                .containsExactly("MR", null);
        assertThat(coverage.groups(Sight.EVERYTHING, Dimension.EXPERIMENT, 1, null, "P1/A", 1))
                .extracting(Group::name)
                .containsExactly("P1/B");
        assertThat(coverage.groups(Sight.EVERYTHING, Dimension.EXPERIMENT, 1, null, "P1/C", 1))
                .isEmpty();
    }

    @Test
    void anExperimentByItselfIsAsItIsInSumsNowAndAsOfThen() {
        int experiment = nights.at("2026-09-01T00:00:00Z").experiment(1, "A", null, null, null);
        nights.at("2026-09-01T20:00:00Z").seal(experiment, 3);
        nights.prove(experiment, 1, 2, 3);
        nights.at("2026-09-01T22:00:00Z").settle(experiment);

        for (String time : List.of("2026-09-01T20:00:00Z", "2026-09-01T21:00:00Z", "2026-09-02T00:00:00Z")) {
            Instant at = Instant.parse(time);
            assertThat(coverage.groups(Sight.EVERYTHING, Dimension.EXPERIMENT, 1, at, "", 9))
                    .as(time)
                    .containsExactly(new Group("P1/A", coverage.all(Sight.EVERYTHING, 1, at)));
        }
        assertThat(coverage.groups(Sight.EVERYTHING, Dimension.EXPERIMENT, 1, null, "", 9))
                .containsExactly(new Group("P1/A", coverage.all(1)));
        assertThat(coverage.groups(
                        Sight.EVERYTHING, Dimension.EXPERIMENT, 1, Instant.parse("2026-08-01T00:00:00Z"), "", 9))
                .isEmpty();
    }

    @Test
    void asOfAMomentIsWhatWasCountedBeforeIt() {
        int experiment = nights.at("2026-09-01T00:00:00Z").experiment(1, "A", "MR", null, null);
        nights.at("2026-09-01T20:00:00Z").seal(experiment, 3);
        nights.at("2026-09-01T21:00:00Z").prove(experiment, 1, 2);
        nights.at("2026-09-01T22:00:00Z").settle(experiment);
        nights.at("2026-09-02T20:00:00Z").seal(experiment, 1);
        nights.at("2026-09-02T21:00:00Z").prove(experiment, 3, 4);
        nights.at("2026-09-02T22:00:00Z").settle(experiment);

        assertThat(asOf("2026-08-31T23:59:59Z")).as("not registered").isEqualTo("0 of 0 files, 0 of 0 experiments");
        assertThat(asOf("2026-09-01T19:59:59Z")).as("not seen").isEqualTo("0 of 0 files, 0 of 1 experiments");
        assertThat(asOf("2026-09-01T20:00:00Z")).isEqualTo("0 of 3 files, 0 of 1 experiments");
        assertThat(asOf("2026-09-01T21:59:59Z")).as("not counted yet").isEqualTo("0 of 3 files, 0 of 1 experiments");
        assertThat(asOf("2026-09-01T22:00:00Z")).isEqualTo("2 of 3 files, 0 of 1 experiments");
        assertThat(asOf("2026-09-02T21:00:00Z")).isEqualTo("2 of 4 files, 0 of 1 experiments");
        assertThat(asOf("2026-09-03T00:00:00Z")).isEqualTo("4 of 4 files, 1 of 1 experiments");
        assertThat(coverage.recordedSince(1)).hasValue(Instant.parse("2026-09-01T20:00:00Z"));
    }

    @Test
    void theHistoryOfProjectsIsWhatWasSafeAtEachMoment() {
        assertThat(past.history(Sight.EVERYTHING, 1, List.of(Instant.parse("2026-09-01T00:00:00Z"))))
                .isEmpty();
        int experiment = nights.at("2026-09-01T00:00:00Z").experiment(1, "A", "MR", null, null);
        nights.at("2026-09-01T20:00:00Z").seal(experiment, 3);
        nights.at("2026-09-01T21:00:00Z").prove(experiment, 1, 2);
        nights.at("2026-09-01T22:00:00Z").settle(experiment);
        int other = nights.at("2026-09-02T00:00:00Z").experiment(2, "B", "MR", null, null);
        nights.at("2026-09-02T20:00:00Z").seal(experiment, 1);
        nights.seal(other, 2);
        nights.at("2026-09-02T21:00:00Z").prove(experiment, 3, 4);
        nights.at("2026-09-02T22:00:00Z").settle(experiment);
        nights.at("2026-09-03T00:00:00Z").site("dr2");
        nights.at("2026-09-05T00:00:00Z").experiment(1, "C", null, null, null);

        List<Instant> moments = Stream.of(
                        "2026-08-31T00:00:00Z",
                        "2026-09-01T00:00:00Z",
                        "2026-09-01T20:00:00Z",
                        "2026-09-01T22:00:00Z",
                        "2026-09-02T00:00:00Z",
                        "2026-09-02T20:00:00Z",
                        "2026-09-02T22:00:00Z",
                        "2026-09-04T00:00:00Z")
                .map(Instant::parse)
                .toList();
        for (int site : List.of(1, 2)) {
            List<History> history = past.history(Sight.EVERYTHING, site, moments);
            assertThat(history).extracting(History::project).containsExactly("P1", "P2");
            for (int i = 0; i < moments.size(); i++) {
                int moment = i;
                assertThat(Totals.together(history.stream()
                                .map(project -> project.totals().get(moment))
                                .toList()))
                        .as("site %d at %s", site, moments.get(i))
                        .usingRecursiveComparison()
                        .ignoringFields("oldestUnprotected")
                        .isEqualTo(coverage.all(Sight.EVERYTHING, site, moments.get(i)));
            }
        }
        assertThat(past.history(Sight.of(List.of("P2")), 1, moments.subList(7, 8)))
                .extracting(project ->
                        project.project() + " " + project.totals().getFirst().files())
                .containsExactly("P2 2");
    }

    @Test
    void whoSeesSomeProjectsSeesTheSameSumsOfThem() {
        int experiment = nights.at("2026-09-01T00:00:00Z").experiment(1, "A", "MR", null, null);
        nights.at("2026-09-01T20:00:00Z").seal(experiment, 3);
        nights.prove(experiment, 1, 2);
        nights.at("2026-09-01T22:00:00Z").settle(experiment);
        nights.seal(nights.at("2026-09-02T00:00:00Z").experiment(2, "B", "MR", null, null), 2);
        nights.at("2026-09-03T00:00:00Z").experiment(1, "C", null, null, null);
        Sight sight = Sight.of(List.of("P1"));

        for (String time : List.of("2026-09-01T01:00:00Z", "2026-09-01T23:00:00Z", "2026-09-04T00:00:00Z", "")) {
            Instant at = time.isEmpty() ? null : Instant.parse(time);
            assertThat(coverage.projects(sight, 1, at))
                    .as(time)
                    .isNotEmpty()
                    .isEqualTo(coverage.projects(Sight.EVERYTHING, 1, at).stream()
                            .filter(totals -> "P1".equals(totals.project()))
                            .toList());
            assertThat(coverage.oldestUnprotected(sight, 1, at, 9))
                    .as(time)
                    .isNotEmpty()
                    .isEqualTo(coverage.oldestUnprotected(Sight.EVERYTHING, 1, at, 9).stream()
                            .filter(waiting -> waiting.project().equals("P1"))
                            .toList());
        }
    }

    @Test
    void receiptsCountAtOnceNowAndAsOfWhenTheRunHasSettled() {
        int experiment = nights.experiment(1, "A", null, null, null);
        nights.seal(experiment, 2);
        nights.at("2026-09-01T01:00:00Z").prove(experiment, 1);

        assertThat(coverage.all(1).filesSafe()).isEqualTo(1);
        assertThat(asOf("2026-09-01T02:00:00Z")).startsWith("0 of 2 files");
    }

    @Test
    void whatIsOldestIsWhatHasWaitedLongestAlsoAsOfThen() {
        int first = nights.at("2026-09-01T00:00:00Z").experiment(1, "A", null, null, null);
        int unseen = nights.at("2026-09-02T00:00:00Z").experiment(1, "B", null, null, null);
        nights.at("2026-09-03T00:00:00Z").seal(first, 2);
        nights.at("2026-09-04T00:00:00Z").seal(first, 1);

        assertThat(coverage.oldestUnprotected(Sight.EVERYTHING, 1, null, 10))
                .containsExactly(
                        new Unprotected("P1", "B", Instant.parse("2026-09-02T00:00:00Z"), null, null),
                        new Unprotected("P1", "A", Instant.parse("2026-09-03T00:00:00Z"), 3L, 30L));
        assertThat(coverage.oldestUnprotected(Sight.EVERYTHING, 1, null, 1))
                .extracting(Unprotected::code)
                .containsExactly("B");

        nights.at("2026-09-05T00:00:00Z").seal(unseen, 1);
        nights.prove(unseen, 1);
        nights.at("2026-09-06T00:00:00Z").settle(unseen);
        assertThat(coverage.all(1).oldestUnprotected()).isEqualTo("2026-09-03T00:00:00Z");
        assertThat(coverage.all(Sight.EVERYTHING, 1, Instant.parse("2026-09-02T12:00:00Z"))
                        .oldestUnprotected())
                .as("neither had been looked at")
                .isEqualTo("2026-09-01T00:00:00Z");
    }

    @Test
    void aSiteThatComesLaterHoldsNothingOfWhatIsKnown() {
        int experiment = nights.experiment(1, "A", null, null, null);
        nights.seal(experiment, 2);
        nights.prove(experiment, 1, 2);
        nights.settle(experiment);
        nights.at("2026-09-05T00:00:00Z").site("second");

        assertThat(coverage.all(1).safe()).isTrue();
        assertThat(coverage.all(2)).extracting(Totals::files, Totals::filesSafe).containsExactly(2L, 0L);
        assertThat(coverage.recordedSince(2)).hasValue(Instant.parse("2026-09-05T00:00:00Z"));
    }

    @Test
    void countingAgainAddsNothingAndAClockThatGoesBackHarmsNothing() {
        int experiment = nights.at("2026-09-02T00:00:00Z").experiment(1, "A", null, null, null);
        nights.seal(experiment, 2);
        nights.at("2026-09-03T00:00:00Z").settle(experiment);
        assertThat(periods()).containsExactly("0 of 2");

        nights.prove(experiment, 1);
        nights.at("2026-08-01T00:00:00Z").settle(experiment);

        assertThat(periods()).containsExactly("0 of 2", "1 of 2");
        assertThat(asOf("2026-09-02T00:00:00Z")).startsWith("1 of 2 files");
    }

    @Test
    void nothingOfAPeriodIsChangedButItsEndAndThatOnce() {
        int experiment = nights.experiment(1, "A", null, null, null);
        nights.seal(experiment, 1);
        nights.prove(experiment, 1);
        nights.at("2026-09-02T00:00:00Z").settle(experiment);

        for (String change : List.of(
                "update coverage set files_safe = 9 where until = 'infinity'",
                "update coverage set until = now() where until <> 'infinity'",
                "update coverage set since = '2020-01-01' where until = 'infinity'",
                "delete from coverage",
                "truncate coverage")) {
            assertThatThrownBy(() -> nights.jdbc.sql(change).update())
                    .as(change)
                    .hasMessageContaining("evidence");
        }
    }

    private List<String> filesBy(Dimension by) {
        return coverage.groups(Sight.EVERYTHING, by, 1, null, "", 100).stream()
                .map(group -> group.name() + "=" + group.totals().files())
                .toList();
    }

    private String asOf(String time) {
        Totals then = coverage.all(Sight.EVERYTHING, 1, Instant.parse(time));
        return "%d of %d files, %d of %d experiments"
                .formatted(then.filesSafe(), then.files(), then.experimentsSafe(), then.experiments());
    }

    private List<String> periods() {
        return nights.jdbc
                .sql("select files_safe || ' of ' || files from coverage order by coverage_id")
                .query(String.class)
                .list();
    }
}
