package dozo.ui;

import dozo.collect.Arrivals;
import dozo.collect.Arrivals.Arrival;
import dozo.ledger.Sight;
import dozo.registry.ExperimentOrder;
import dozo.registry.ExperimentOrder.Sort;
import dozo.registry.ExperimentSearch;
import dozo.registry.ExperimentSearch.Filter;
import dozo.registry.ExperimentSearch.Found;
import dozo.registry.ExperimentSearch.State;
import dozo.verify.Milestones;
import dozo.verify.Milestones.Safe;
import dozo.worklist.Gaps;
import dozo.worklist.Gaps.Gap;
import java.time.Instant;
import java.time.InstantSource;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/** What the overview shows to a lab manager: their experiments, and not the service. */
@Component
record MyExperiments(
        ExperimentSearch search,
        Milestones milestones,
        Arrivals arrivals,
        Gaps gaps,
        InstantSource clock,
        ZoneId zone) {

    /** Of each kind. */
    private static final int SHOWN = 10;

    private static final ExperimentOrder NEWEST = new ExperimentOrder(Sort.ACQUIRED, true);

    private static final Arrivals.Filter PROPOSED = new Arrivals.Filter(null, null, true, null);

    /**
     * The experiments of a user, at most {@link #SHOWN} of each kind, the newest first.
     *
     * @param needs those that are at risk
     * @param proposals what an origin has, and nobody has registered yet
     * @param bookings those of today
     * @param arriving those of which an origin has not delivered all
     * @param copying those that are being copied, or wait for the next backup
     */
    record Mine(
            List<Found> needs,
            List<Arrival> proposals,
            List<Gap> bookings,
            List<Found> arriving,
            List<Found> copying,
            List<Safe> safe) {}

    /** Returns the experiments of a user who sees only some projects; null for others. */
    @Nullable
    Mine of(Sight sight, int siteId) {
        if (sight.ofEverything()) {
            return null;
        }
        Instant now = clock.instant();
        LocalDate today = LocalDate.ofInstant(now, zone);
        return new Mine(
                in(sight, siteId, State.AT_RISK).toList(),
                arrivals.page(sight, PROPOSED, 0, SHOWN),
                gaps.page(sight, new Gaps.Filter(today, today, now, null, null, true), siteId, "", SHOWN),
                in(sight, siteId, State.ARRIVING).toList(),
                Stream.of(State.COPYING, State.COMPLETE, State.PLANNED)
                        .flatMap(state -> in(sight, siteId, state))
                        .limit(SHOWN)
                        .toList(),
                milestones.newest(sight, SHOWN));
    }

    private Stream<Found> in(Sight sight, int siteId, State state) {
        Filter wanted = new Filter(null, null, null, null, null, null, state, null);
        return search.page(sight, wanted, siteId, NEWEST, null, SHOWN).stream();
    }
}
