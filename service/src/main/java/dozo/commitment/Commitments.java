package dozo.commitment;

import dozo.ledger.Ledger;
import dozo.verify.Images.Image;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/** What callers want Dozo to commit to, and what they were told. Kept for {@value #KEPT_DAYS} days. */
@Component
class Commitments {

    /** So many images one request may ask about. */
    static final int IMAGES_MAX = 10_000;

    /** So many requests of one caller may wait. */
    static final int WAITING_MAX = 1_000;

    private static final int KEPT_DAYS = 90;

    private static final Comparator<Image> ORDER =
            Comparator.comparing(Image::instanceUid).thenComparing(Image::classUid);

    private final JdbcClient jdbc;
    private final Ledger ledger;
    private final InstantSource clock;

    /** What became of a request: stored; refused, because its transaction is about other images; or too many wait. */
    enum Asked {
        ACCEPTED,
        OTHER_IMAGES,
        TOO_MANY
    }

    /**
     * A request that is due.
     *
     * @param images each once
     * @param attempts so many reports failed
     */
    record Request(long id, String caller, String transactionUid, List<Image> images, Instant askedAt, int attempts) {}

    Commitments(JdbcClient jdbc, Ledger ledger, InstantSource clock) {
        this.jdbc = jdbc;
        this.ledger = ledger;
        this.clock = clock;
    }

    /** Stores a request about some images. One that is repeated is reported once more, and waits anew if it was reported. */
    @Transactional
    public Asked add(String caller, String transactionUid, Collection<Image> images) {
        List<Image> sorted = images.stream().distinct().sorted(ORDER).toList();
        String[] classes = sorted.stream().map(Image::classUid).toArray(String[]::new);
        String[] instances = sorted.stream().map(Image::instanceUid).toArray(String[]::new);
        Map<String, Object> request = new HashMap<>(Map.of("caller", caller, "transaction", transactionUid));
        request.putAll(Map.of("classes", classes, "instances", instances, "now", now(), "most", WAITING_MAX));
        if (repeated(request)) {
            return Asked.ACCEPTED;
        }
        int inserted = jdbc.sql("""
                        insert into commitment (caller, transaction_uid, class_uids, instance_uids, asked_at, due_at)
                        select :caller, :transaction, :classes, :instances, :now, :now
                        where (select count(*) from commitment where caller = :caller and due_at is not null) < :most
                        on conflict do nothing
                        """).params(request).update();
        if (inserted == 1) {
            return Asked.ACCEPTED;
        }
        boolean there = jdbc.sql("""
                        select exists (select from commitment where caller = :caller and transaction_uid = :transaction)
                        """)
                .params(request)
                .query((row, n) -> row.getBoolean(1))
                .single();
        return there ? Asked.OTHER_IMAGES : Asked.TOO_MANY;
    }

    private Timestamp now() {
        return Timestamp.from(clock.instant());
    }

    private boolean repeated(Map<String, Object> request) {
        return jdbc.sql("""
                        update commitment
                        set asked_at = case when due_at is null then :now else asked_at end, due_at = :now, attempts = 0,
                            reported_at = null, failed = null, given_up_at = null, message = ''
                        where caller = :caller and transaction_uid = :transaction
                          and class_uids = :classes::text[] and instance_uids = :instances::text[]
                        """).params(request).update() == 1;
    }

    /** Returns the request that is due longest. */
    public Optional<Request> due() {
        return jdbc.sql("select * from commitment where due_at <= :now order by due_at, commitment_id limit 1")
                .param("now", now())
                .query((row, n) -> request(row))
                .optional();
    }

    private static Request request(ResultSet row) throws SQLException {
        String[] classes = (String[]) row.getArray("class_uids").getArray();
        String[] instances = (String[]) row.getArray("instance_uids").getArray();
        List<Image> images = new ArrayList<>(classes.length);
        for (int i = 0; i < classes.length; i++) {
            images.add(new Image(classes[i], instances[i]));
        }
        return new Request(
                row.getLong("commitment_id"),
                row.getString("caller"),
                row.getString("transaction_uid"),
                images,
                row.getTimestamp("asked_at").toInstant(),
                row.getInt("attempts"));
    }

    /** Looks at a request again at this time. A request that was repeated meanwhile stays due. */
    public void postpone(Request request, Instant until) {
        jdbc.sql("update commitment set due_at = :until where commitment_id = :id and due_at <= :now")
                .param("until", Timestamp.from(until))
                .param("id", request.id)
                .param("now", now())
                .update();
    }

    /** Records that a report failed, and tries it again after this time; null: never. */
    public void failed(Request request, @Nullable Duration retry, String why) {
        jdbc.sql("""
                        update commitment
                        set attempts = attempts + 1, message = :why, due_at = :due::timestamptz,
                            given_up_at = case when :due::timestamptz is null then :now::timestamptz end
                        where commitment_id = :id
                        """)
                .param(
                        "due",
                        retry == null ? null : Timestamp.from(clock.instant().plus(retry)))
                .param("now", now())
                .param("why", why)
                .param("id", request.id)
                .update();
    }

    /** Records what the caller was told, in the ledger, too. */
    @Transactional
    public void reported(Request request, int failed) {
        jdbc.sql("""
                        update commitment set reported_at = :now, failed = :failed, due_at = null, message = ''
                        where commitment_id = :id
                        """)
                .param("now", now())
                .param("failed", failed)
                .param("id", request.id)
                .update();
        ledger.append(
                Ledger.SYSTEM,
                "commitment.reported",
                request.transactionUid,
                Map.of("caller", request.caller, "committed", request.images.size() - failed, "failed", failed));
    }

    /** Removes what nobody waits for and is older than {@value #KEPT_DAYS} days. */
    public void forget() {
        jdbc.sql("delete from commitment where due_at is null and asked_at < :before")
                .param("before", Timestamp.from(clock.instant().minus(Duration.ofDays(KEPT_DAYS))))
                .update();
    }
}
