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

/** How origins stand: what they told of, how much of it is here, what their last reconciliation said, and what to do next. */
@Component
public class Standings {

    private final JdbcClient jdbc;
    private final Origins origins;
    private final Reconciliations reconciliations;
    private final Room room;

    /** What an origin calls for; of several, the first. */
    public enum Next {
        /** Nights skip it. */
        INACTIVE,
        /** Its spool is not there, does not answer, or is empty though something was brought into it. */
        NO_SPOOL,
        /** It could not be used, or no longer. */
        UNUSABLE,
        /** Nothing more fits into its spool. */
        FULL,
        /** The time was over before all was tried. */
        LATE,
        /** Something is missing. */
        DIFFERS,
        /** No run has looked at it yet. */
        UNSEEN,
        /** Somebody has to say which proposals become experiments. */
        OFFERED,
        NOTHING
    }

    /**
     * What an origin told of, in items.
     *
     * @param told all that it tells of now
     * @param offered of those, proposals
     * @param complete of those, experiments that are all here
     * @param dismissed of those, proposals that nobody wants
     * @param waiting those that the next night looks into
     * @param gone those that it tells of no more
     */
    public record Items(long told, long offered, long complete, long dismissed, long waiting, long gone) {}

    /**
     * How an origin stands.
     *
     * @param roomBytes what may still come into its spool, at least 0; null: it has none, or none that can be used
     * @param latest of the last run that came to it; null: none has
     */
    public record Standing(
            Origin origin,
            Items items,
            @Nullable Long roomBytes,
            @Nullable Report latest,
            Next next) {

        /** Whether somebody has to do something before a night can bring all. */
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
     * At most {@code limit} origins whose name comes after {@code after}, by name; asks their spools' file systems, all at the same
     * time.
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
