package dozo.collect;

import dozo.collect.Origins.Origin;
import dozo.collect.Reconciliations.Report;
import dozo.collect.Reconciliations.State;
import dozo.ledger.Rows;
import dozo.registry.FileQuestion;
import dozo.registry.Refusal;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * The state of origins: what they list, how much of it is here, the result of their last reconciliation, and what to do
 * next.
 */
@Component
public class Standings {

    private final JdbcClient jdbc;
    private final Origins origins;
    private final Reconciliations reconciliations;
    private final Room room;

    /** What an origin needs next; if several apply, the first. */
    public enum Next {
        /** Nights skip it. */
        INACTIVE,
        /** Its spool does not exist, does not answer, or is empty although something was delivered into it. */
        NO_SPOOL,
        /** It could not be used at all, or no longer. */
        UNUSABLE,
        /** Nothing more fits into its spool. */
        FULL,
        /** The time limit was reached before every item was tried. */
        LATE,
        /** Something is missing. */
        DIFFERS,
        /** No run has looked at it yet. */
        UNSEEN,
        /** A user has to decide which proposals become experiments. */
        OFFERED,
        NOTHING
    }

    /**
     * How many items an origin has.
     *
     * @param told all that it lists now
     * @param offered listed items that are proposals
     * @param complete listed items that are experiments and completely here
     * @param dismissed listed items that are dismissed
     * @param waiting items that the next night looks at
     * @param gone items that it no longer lists
     */
    public record Items(long told, long offered, long complete, long dismissed, long waiting, long gone) {}

    /**
     * The state of an origin.
     *
     * @param roomBytes how much may still be written to its spool, at least 0; null if it has no usable spool
     * @param latest from the last run that reached it; null if none has
     */
    public record Standing(
            Origin origin,
            Items items,
            @Nullable Long roomBytes,
            @Nullable Report latest,
            Next next) {

        /** Returns whether a person must act before a night can deliver everything. */
        public boolean wrong() {
            return switch (next) {
                case NO_SPOOL, UNUSABLE, FULL, LATE, DIFFERS -> true;
                case INACTIVE, UNSEEN, OFFERED, NOTHING -> false;
            };
        }
    }

    Standings(JdbcClient jdbc, Origins origins, Reconciliations reconciliations, Room room) {
        this.jdbc = jdbc;
        this.origins = origins;
        this.reconciliations = reconciliations;
        this.room = room;
    }

    /**
     * Returns at most {@code limit} origins whose name comes after {@code after}, by name. Queries the file systems of
     * their spools in parallel.
     */
    public List<Standing> page(String after, int limit) {
        List<Origin> page = origins.page(after, limit);
        List<Future<Optional<Long>>> left;
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            left = page.stream()
                    .map(origin -> threads.submit(() -> left(origin)))
                    .toList();
        }
        return IntStream.range(0, page.size())
                .mapToObj(n -> of(page.get(n), left.get(n).resultNow().orElse(null)))
                .toList();
    }

    private Standing of(Origin origin, @Nullable Long left) {
        Items items = items(origin);
        Report latest = reconciliations.latest(origin).orElse(null);
        return new Standing(origin, items, left, latest, next(origin, items, left, latest));
    }

    private Items items(Origin origin) {
        return jdbc.sql("""
                        select count(*) filter (where state <> 'GONE') as told,
                               count(*) filter (where state = 'OFFERED' and dismissed_at is null) as offered,
                               count(*) filter (where state = 'COMPLETE') as complete,
                               count(*) filter (where state = 'OFFERED' and dismissed_at is not null) as dismissed,
                               count(*) filter (where waiting) as waiting,
                               count(*) filter (where state = 'GONE') as gone
                        from arrival where origin_id = :origin
                        """)
                .param("origin", origin.id())
                .query(Rows.of(Items.class))
                .single();
    }

    private Optional<Long> left(Origin origin) {
        if (origin.terms().kind() == OriginKind.TREE) {
            return Optional.empty();
        }
        try {
            return Optional.of(Math.max(0, room.left(origin, FileQuestion.PERSON)));
        } catch (IOException | Refusal e) {
            return Optional.empty();
        }
    }

    private static Next next(Origin origin, Items items, @Nullable Long left, @Nullable Report latest) {
        if (!origin.terms().active()) {
            return Next.INACTIVE;
        }
        if (left == null && origin.terms().kind() != OriginKind.TREE) {
            return Next.NO_SPOOL;
        }
        State state = latest == null ? null : latest.state();
        if (state == State.UNUSABLE) {
            return Next.UNUSABLE;
        }
        if (left != null && left == 0) {
            return Next.FULL;
        }
        if (state == State.LATE || state == State.DIFFERS) {
            return state == State.LATE ? Next.LATE : Next.DIFFERS;
        }
        if (latest == null) {
            return Next.UNSEEN;
        }
        return items.offered() > 0 ? Next.OFFERED : Next.NOTHING;
    }
}
