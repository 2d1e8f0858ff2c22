package dozo.plan;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.plan.Hours.Step;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** As many experiments as possible are safe before their source deletes them; the others get fair shares. */
class SendingOrderTest {

    private static final Instant BEGIN = Instant.parse("2026-11-26T20:00:00Z");

    /** One second for each byte. */
    private static final Speed SPEED = Speed.of(new CostModel(1e3, 0), 1, List.of());

    private static final Hours ALWAYS =
            new Hours(List.of(new Step(BEGIN, Double.POSITIVE_INFINITY)), BEGIN.plus(Duration.ofDays(99)), 1e3);

    @Test
    void deadlinesComeFirstInTheirOrder() {
        assertThat(order(of(1, 1, 1, null), of(2, 1, 1, 50), of(3, 1, 1, 10))).containsExactly(3, 2, 1);
    }

    @Test
    void theLongestGivesWayIfNotAllCanBeInTime() {
        // 3 has the second deadline and takes most of the time.
        assertThat(order(of(1, 1, 2, 3), of(3, 1, 20, 22), of(2, 1, 10, 23), of(4, 1, 9, 24)))
                .containsExactly(1, 2, 4, 3);
    }

    @Test
    void whatIsLateInAnyCaseTakesNoTimeFromTheOthers() {
        assertThat(order(of(1, 1, 9, -5), of(2, 1, 10, 11), of(3, 1, 5, -5))).containsExactly(2, 3, 1);
    }

    @Test
    void closedHoursCount() {
        Hours closed = new Hours(
                List.of(new Step(BEGIN, 0), new Step(BEGIN.plusSeconds(10), Double.POSITIVE_INFINITY)),
                BEGIN.plusSeconds(99),
                1e3);

        assertThat(ids(SendingOrder.of(List.of(of(1, 1, 6, 15), of(2, 1, 4, 15)), SPEED, closed)))
                .containsExactly(2, 1);
    }

    @Test
    void asManyAreInTimeAsInTheBestOfAllOrders() {
        Random random = new Random(1);
        for (int i = 0; i < 300; i++) {
            List<Pending> all = new ArrayList<>();
            for (int n = 0; n < 6; n++) {
                all.add(of(n, 1, 1 + random.nextInt(20), 1 + random.nextInt(50)));
            }
            List<Pending> ordered = SendingOrder.of(all, SPEED, ALWAYS);

            assertThat(inTime(ordered)).as("%s", all).isEqualTo(best(new ArrayList<>(), all));
            assertThat(ordered).containsExactlyInAnyOrderElementsOf(all);
        }
    }

    @Test
    void projectsGetEqualSharesOfTheTimeAndTheirOldestFirst() {
        assertThat(order(
                        of(1, 1, 10, null),
                        of(2, 1, 10, null),
                        of(3, 1, 10, null),
                        of(4, 2, 5, null),
                        of(5, 2, 5, null),
                        of(6, 3, 30, null)))
                .containsExactly(4, 1, 5, 2, 3, 6);
    }

    @Test
    void aProjectWithTwiceThePriorityGetsTwiceTheTime() {
        assertThat(order(
                        of(1, 1, 10, null),
                        of(2, 1, 10, null),
                        of(3, 1, 10, null),
                        weighted(4, 2, 10, 20),
                        weighted(5, 2, 10, 20),
                        weighted(6, 2, 10, 20),
                        weighted(7, 2, 10, 20)))
                .containsExactly(4, 1, 5, 6, 2, 7, 3);
    }

    @Test
    void aDeadlineComesBeforeAnyPriority() {
        assertThat(order(weighted(1, 1, 10, 100), of(2, 2, 50, 60))).containsExactly(2, 1);
    }

    @Test
    void theLeastPriorityStillGetsItsShare() {
        List<Pending> all = new ArrayList<>(List.of(weighted(1, 1, 1, 1)));
        for (int i = 2; i <= 300; i++) {
            all.add(weighted(i, 2, 1, 100));
        }

        assertThat(ids(SendingOrder.of(all, SPEED, ALWAYS)).indexOf(1)).isEqualTo(99);
    }

    private static List<Integer> order(Pending... all) {
        List<Pending> shuffled = new ArrayList<>(List.of(all));
        Collections.shuffle(shuffled, new Random(7));
        return ids(SendingOrder.of(shuffled, SPEED, ALWAYS));
    }

    private static List<Integer> ids(List<Pending> ordered) {
        return ordered.stream().map(Pending::experiment).toList();
    }

    private static int best(List<Pending> chosen, List<Pending> left) {
        if (left.isEmpty()) {
            return inTime(chosen);
        }
        int best = 0;
        for (Pending next : left) {
            List<Pending> more = new ArrayList<>(chosen);
            more.add(next);
            List<Pending> rest = new ArrayList<>(left);
            rest.remove(next);
            best = Math.max(best, best(more, rest));
        }
        return best;
    }

    private static int inTime(List<Pending> ordered) {
        double seconds = 0;
        int inTime = 0;
        for (Pending each : ordered) {
            seconds += SPEED.seconds(each.work());
            if (seconds <= ALWAYS.usableUntil(each.deadline())) {
                inTime++;
            }
        }
        return inTime;
    }

    private static Pending weighted(int experiment, int project, int seconds, int priority) {
        return new Pending(experiment, project, priority, new Work(seconds * 1_000L, 1), 0, null);
    }

    private static Pending of(int experiment, int project, int seconds, @Nullable Integer deadlineSeconds) {
        return new Pending(
                experiment,
                project,
                10,
                new Work(seconds * 1_000L, 1),
                0,
                deadlineSeconds == null ? null : BEGIN.plusSeconds(deadlineSeconds));
    }
}
