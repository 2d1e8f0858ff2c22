package dozo.source.flywheel;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.source.delivery.Item;
import dozo.source.delivery.Trouble;
import dozo.source.flywheel.Changes.Seen;
import dozo.source.flywheel.Faults.Fault;
import dozo.source.flywheel.Hierarchy.Kind;
import java.time.Instant;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A night sends few requests to an unchanged Flywheel, and misses no change. */
class ChangesTest {

    private static final Instant LATER = Instant.parse("2026-11-20T20:00:00Z");

    private final Hierarchy hierarchy = new Hierarchy(1, 10, 20_000, 4, 2, 100);
    private final Emulator emulator = new Emulator(hierarchy);
    private final Readers readers = new Readers(emulator);
    private final Changes changes = new Changes(readers.flywheel);

    @AfterEach
    void close() {
        readers.flywheel.close();
        emulator.close();
    }

    @Test
    void nothingNewCostsLessThanARequestPerHundredSessions() throws Exception {
        Seen first = changes.since(null);
        assertThat(first.sessions()).hasSize(20_000);
        assertThat(first.projects()).hasSize(10);
        assertThat(first.changed()).hasSize(20_010);
        assertThat(first.newest()).isEqualTo(Hierarchy.BEGINNING.plusSeconds(19_999));
        emulator.takeRequests();

        // The overlap has passed when something later was seen.
        Seen second = changes.since(LATER);

        assertThat(second.changed()).isEmpty();
        assertThat(second.missing()).isEmpty();
        assertThat(emulator.takeRequests()).isEqualTo(88);
    }

    @Test
    void whatIsNewIsFoundWhereverItHangs() throws Exception {
        hierarchy
                .tell(Hierarchy.session(17), "modified", Hierarchy.written(LATER))
                .tell(Hierarchy.acquisition(4_000), "modified", Hierarchy.written(LATER))
                .tell(Hierarchy.id(Kind.ANALYSIS, 3), "modified", Hierarchy.written(LATER.plusSeconds(1)))
                .tell(Hierarchy.id(Kind.SUBJECT, 2_000), "modified", Hierarchy.written(LATER))
                .tell(Hierarchy.id(Kind.PROJECT, 9), "modified", Hierarchy.written(LATER));
        hierarchy.replace(hierarchy.file(8_000, 1), "new", LATER.minusSeconds(60));
        String file = hierarchy.addFile(Hierarchy.id(Kind.PROJECT, 7), "plan.pdf", "plan");
        String analysis = hierarchy.addAnalysis(Hierarchy.id(Kind.SUBJECT, 8_500));
        hierarchy.tell(file, "modified", Hierarchy.written(LATER)).tell(analysis, "modified", Hierarchy.written(LATER));

        Seen seen = changes.since(LATER);

        assertThat(seen.changed())
                .containsExactlyInAnyOrder(
                        Hierarchy.session(17),
                        Hierarchy.session(1_000),
                        Hierarchy.session(30),
                        Hierarchy.session(2_000),
                        Hierarchy.session(4_000),
                        Hierarchy.session(4_001),
                        Hierarchy.id(Kind.PROJECT, 2),
                        Hierarchy.id(Kind.PROJECT, 7),
                        Hierarchy.id(Kind.PROJECT, 8),
                        Hierarchy.id(Kind.PROJECT, 9));
        assertThat(seen.newest()).isEqualTo(LATER.plusSeconds(1));
    }

    @Test
    void aChangedGroupIsAChangeOfItsProjectsNotOfTheirSessions() throws Exception {
        hierarchy.tell(Hierarchy.id(Kind.GROUP, 0), "modified", Hierarchy.written(LATER));

        assertThat(changes.since(LATER).changed())
                .hasSize(10)
                .allMatch(id -> hierarchy.kind(id).orElseThrow() == Kind.PROJECT);
    }

    @Test
    void aClockAheadOfOursHidesNothing() throws Exception {
        hierarchy.tell(Hierarchy.session(17), "modified", "2031-01-01T00:00:00+00:00");

        assertThat(changes.since(null).newest()).isEqualTo(Readers.NOW);
    }

    @Test
    void aListThatCannotBeReadKeepsTheNextLookAtWhereThisOneBegan() throws Exception {
        emulator.faults.always("/files", Fault.BROKEN);

        Seen seen = changes.since(LATER);

        assertThat(seen.missing()).extracting(Item::trouble).containsExactly(Trouble.SERVER_FAULT);
        assertThat(seen.newest()).isEqualTo(LATER);
        assertThat(emulator.faults.unfired()).isEmpty();
    }

    @Test
    void oneLabelForTwoSessionsOfASubjectIsSaid() throws Exception {
        hierarchy.tell(Hierarchy.session(1), "label", "ses-00000");

        assertThat(changes.since(LATER).remarks()).singleElement().satisfies(item -> {
            assertThat(item.trouble()).isEqualTo(Trouble.DUPLICATE);
            assertThat(item.id()).isEqualTo(Hierarchy.session(1));
        });
    }
}
