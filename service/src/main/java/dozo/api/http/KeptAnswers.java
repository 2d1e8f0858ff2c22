package dozo.api.http;

import dozo.file.Digest;
import dozo.registry.Refusal;
import java.sql.Timestamp;
import java.sql.Types;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/** The first responses to requests with a key, stored for 24 hours. */
@Component
class KeptAnswers {

    static final int BODY_BYTES_MAX = 256 * 1024;

    private static final Duration KEPT = Duration.ofHours(24);
    private static final int KEYS_MAX = 10_000;

    private final JdbcClient jdbc;
    private final InstantSource clock;

    /**
     * A response.
     *
     * @param body null if it was too long to store
     */
    @SuppressWarnings("ArrayRecordComponent") // written and read once
    record Kept(
            int status, @Nullable String location, @Nullable String contentType, byte @Nullable [] body) {}

    private record Begun(boolean same, @Nullable Kept answer) {}

    KeptAnswers(JdbcClient jdbc, InstantSource clock) {
        this.jdbc = jdbc;
        this.clock = clock;
    }

    /**
     * Begins a request, unless it was answered. No other caller may work on it at the same time. A request that was
     * begun and has no response is begun again: its process died, or it failed.
     *
     * @return the response that the request already got
     * @throws Refusal if the key was used for another request, or this user has used too many keys
     */
    @Transactional
    Optional<Kept> begin(int user, String key, Digest request) {
        Instant now = clock.instant();
        jdbc.sql("delete from kept_answer where begun_at < :expired")
                .param("expired", Timestamp.from(now.minus(KEPT)))
                .update();
        Optional<Begun> begun = find(user, key, request);
        if (begun.isEmpty()) {
            refuseTooMany(user);
            insert(user, key, request, now);
            return Optional.empty();
        }
        if (!begun.get().same()) {
            throw new Refusal(
                    Idempotency.HEADER,
                    "this key was used for a different request within the last 24 hours: use another one");
        }
        return Optional.ofNullable(begun.get().answer());
    }

    /** Stores a response. */
    void answered(int user, String key, Kept answer) {
        jdbc.sql("""
                        update kept_answer set status = :status, location = :location, content_type = :type, body = :body
                        where user_id = :user and key = :key
                        """)
                .param("status", answer.status())
                .param("location", answer.location(), Types.VARCHAR)
                .param("type", answer.contentType(), Types.VARCHAR)
                .param("body", answer.body(), Types.BINARY)
                .param("user", user)
                .param("key", key)
                .update();
    }

    private Optional<Begun> find(int user, String key, Digest request) {
        return jdbc.sql("select * from kept_answer where user_id = :user and key = :key")
                .param("user", user)
                .param("key", key)
                .query((row, n) -> new Begun(
                        Arrays.equals(row.getBytes("request_sha256"), request.bytes()),
                        row.getObject("status") == null
                                ? null
                                : new Kept(
                                        row.getInt("status"),
                                        row.getString("location"),
                                        row.getString("content_type"),
                                        row.getBytes("body"))))
                .optional();
    }

    private void refuseTooMany(int user) {
        int used = jdbc.sql("select count(*) from kept_answer where user_id = :user")
                .param("user", user)
                .query(Integer.class)
                .single();
        if (used >= KEYS_MAX) {
            throw new Refusal(
                    Idempotency.HEADER,
                    "you have used %,d keys within the last 24 hours, the maximum: omit the key",
                    KEYS_MAX);
        }
    }

    private void insert(int user, String key, Digest request, Instant now) {
        jdbc.sql("""
                        insert into kept_answer (user_id, key, request_sha256, begun_at)
                        values (:user, :key, :request, :now)
                        """)
                .param("user", user)
                .param("key", key)
                .param("request", request.bytes())
                .param("now", Timestamp.from(now))
                .update();
    }
}
