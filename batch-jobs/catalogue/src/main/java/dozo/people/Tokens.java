package dozo.people;

import dozo.file.Digest;
import dozo.ledger.Ledger;
import dozo.ledger.Rows;
import dozo.registry.Refusal;
import java.security.SecureRandom;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/**
 * The credentials of programs. A secret is shown once and stored as its SHA-256: with 256 random bits it needs no slow
 * hash. A token never allows more than its user may do at that moment.
 */
@Component
public class Tokens {

    /** The prefix of every secret, by which people and secret scanners recognise one. */
    public static final String PREFIX = "dozo_";

    public static final int DAYS_USUAL = 90;

    public static final int GRACE_DAYS_USUAL = 7;

    private static final int DAYS_MAX = 366;
    private static final int GRACE_DAYS_MAX = 30;
    private static final int EACH_MAX = 50;
    private static final int SECRET_BYTES = 32;
    private static final int SECRET_LENGTH_MAX = 100;
    private static final Duration USE_KEPT_EVERY = Duration.ofHours(1);
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9 ._@-]{0,63}");

    private static final String SELECT = """
            select t.*, t.token_id as id, u.name as user from api_token t join dozo_user u using (user_id)
            """;

    private static final RowMapper<Token> TOKEN = Rows.of(Token.class);

    private final JdbcClient jdbc;
    private final Users users;
    private final Ledger ledger;
    private final InstantSource clock;
    private final SecureRandom random = new SecureRandom();

    /**
     * A token without its secret.
     *
     * @param roles the token has at most these of its user's roles
     * @param lastUsedAt to the hour; null: never
     */
    public record Token(
            int id,
            int userId,
            String user,
            String name,
            SortedSet<Role> roles,
            boolean readOnly,
            Scope scope,
            Instant createdAt,
            Instant expiresAt,
            @Nullable Instant revokedAt,
            @Nullable Instant lastUsedAt) {}

    /** A new token and its secret, which is not stored. */
    public record NewToken(Token token, String secret) {

        /** Returns the token without the secret. */
        @Override
        public String toString() {
            return token.toString();
        }
    }

    public Tokens(JdbcClient jdbc, Users users, Ledger ledger, InstantSource clock) {
        this.jdbc = jdbc;
        this.users = users;
        this.ledger = ledger;
        this.clock = clock;
    }

    /** Creates a token for a user, with {@link Scope#ALL}. */
    public NewToken create(String user, String name, @Nullable Set<Role> roles, boolean readOnly, int days) {
        return create(user, name, roles, readOnly, Scope.ALL, days);
    }

    /**
     * Creates a token for a user.
     *
     * @param roles null: all roles of the user
     * @param readOnly a token whose scope is not {@code ALL} only reads in any case
     * @param days until it expires, 1 to 366
     * @throws Refusal if the name is malformed or taken, a role is not the user's, or the user has 50 tokens already
     */
    @Transactional
    public NewToken create(
            String user, String name, @Nullable Set<Role> roles, boolean readOnly, Scope scope, int days) {
        Users.User owner = users.locked(user).orElseThrow();
        Set<Role> limit = roles == null ? owner.roles() : roles;
        check(owner, name, limit, days);
        String secret = secret();
        Instant now = clock.instant();
        try {
            int id = jdbc.sql("""
                            insert into api_token (user_id, name, secret_sha256, roles, read_only, scope, created_at, expires_at)
                            values (:user, :name, :digest, :roles::text[], :readOnly, :scope, :now, :expires) returning token_id
                            """)
                    .param("user", owner.id())
                    .param("name", name)
                    .param("digest", Digest.ofText(secret).bytes())
                    .param("roles", limit.stream().map(Role::name).toArray(String[]::new))
                    .param("readOnly", readOnly || scope != Scope.ALL)
                    .param("scope", scope.name())
                    .param("now", Timestamp.from(now))
                    .param("expires", Timestamp.from(now.plus(Duration.ofDays(days))))
                    .query((row, n) -> row.getInt(1))
                    .single();
            Token token = find(id).orElseThrow();
            ledger.append(user, "token.created", user + "/" + name, facts(token));
            return new NewToken(token, secret);
        } catch (DuplicateKeyException e) {
            throw Refusal.conflict("name", "you already have a token \"%s\": revoke it first", name);
        }
    }

    /**
     * Gives a user's token a new secret, for as long as it was created for. The secret before it is valid for a while, but no longer than it
     * would have been; the one before that is not.
     *
     * @param graceDays how long, 0 to 30; 0: it is refused from the next request on
     * @return empty: the user has no such token, or it has expired
     * @throws Refusal if the days are out of range
     */
    @Transactional
    public Optional<NewToken> rotate(String user, int id, int graceDays) {
        if (graceDays < 0 || graceDays > GRACE_DAYS_MAX) {
            throw new Refusal("graceDays", "%d: expected 0 to %d", graceDays, GRACE_DAYS_MAX);
        }
        String secret = secret();
        Instant now = clock.instant();
        Instant until = now.plus(Duration.ofDays(graceDays));
        int rotated = jdbc.sql("""
                        update api_token
                        set former_sha256 = secret_sha256, former_until = least(:until, expires_at), secret_sha256 = :digest,
                            created_at = :now, expires_at = cast(:now as timestamptz) + (expires_at - created_at)
                        where token_id = :id and revoked_at is null and expires_at > :now
                          and user_id = (select user_id from dozo_user where name = :user)
                        """)
                .param("until", Timestamp.from(until))
                .param("digest", Digest.ofText(secret).bytes())
                .param("now", Timestamp.from(now))
                .param("id", id)
                .param("user", user)
                .update();
        if (rotated == 0) {
            return Optional.empty();
        }
        Token token = find(id).orElseThrow();
        Map<String, Object> facts = new HashMap<>(facts(token));
        facts.put("former_until", until);
        ledger.append(user, "token.rotated", user + "/" + token.name(), facts);
        return Optional.of(new NewToken(token, secret));
    }

    /** Returns a user's tokens that are not revoked, by id; at most 50. */
    public List<Token> of(String user) {
        return jdbc.sql(SELECT + "where u.name = :user and t.revoked_at is null order by t.token_id")
                .param("user", user)
                .query(TOKEN)
                .list();
    }

    /**
     * Revokes a user's token, effective from the next request.
     *
     * @return whether there was one
     */
    @Transactional
    public boolean revoke(String user, int id, String actor) {
        Optional<Token> token = find(id).filter(found -> found.user().equals(user));
        int revoked = jdbc.sql("""
                        update api_token set revoked_at = :now
                        where token_id = :id and revoked_at is null
                          and user_id = (select user_id from dozo_user where name = :user)
                        """)
                .param("now", Timestamp.from(clock.instant()))
                .param("id", id)
                .param("user", user)
                .update();
        if (revoked > 0) {
            Token before = token.orElseThrow();
            ledger.append(actor, "token.revoked", user + "/" + before.name(), facts(before));
        }
        return revoked > 0;
    }

    private static Map<String, Object> facts(Token token) {
        return Map.of(
                "roles", token.roles(),
                "read_only", token.readOnly(),
                "scope", token.scope(),
                "expires", token.expiresAt());
    }

    /** Returns the token with this secret, whether it is still valid or not. Records its use at most once an hour. */
    public Optional<Token> use(String secret) {
        if (!secret.startsWith(PREFIX) || secret.length() > SECRET_LENGTH_MAX) {
            return Optional.empty();
        }
        Optional<Token> token = jdbc.sql(SELECT
                        + "where t.secret_sha256 = :digest or (t.former_sha256 = :digest and t.former_until > :now)")
                .param("digest", Digest.ofText(secret).bytes())
                .param("now", Timestamp.from(clock.instant()))
                .query(TOKEN)
                .optional();
        token.ifPresent(this::keepUse);
        return token;
    }

    private void keepUse(Token token) {
        Instant now = clock.instant();
        Instant last = token.lastUsedAt();
        if (last == null || last.isBefore(now.minus(USE_KEPT_EVERY))) {
            jdbc.sql("update api_token set last_used_at = :now where token_id = :id")
                    .param("now", Timestamp.from(now))
                    .param("id", token.id())
                    .update();
        }
    }

    private Optional<Token> find(int id) {
        return jdbc.sql(SELECT + "where t.token_id = :id")
                .param("id", id)
                .query(TOKEN)
                .optional();
    }

    private void check(Users.User owner, String name, Set<Role> limit, int days) {
        if (!NAME.matcher(name).matches()) {
            throw new Refusal("name", "expected 1 to 64 letters, digits, spaces, ., _, @ and -");
        }
        if (days < 1 || days > DAYS_MAX) {
            throw new Refusal("days", "%d: expected 1 to %d", days, DAYS_MAX);
        }
        if (owner.roles().isEmpty()) {
            throw new Refusal("roles", "you have no role to give to a token");
        }
        if (limit.isEmpty() || !owner.roles().containsAll(limit)) {
            throw new Refusal("roles", "expected one or more of your own roles: %s", owner.roles());
        }
        if (of(owner.name()).size() >= EACH_MAX) {
            throw new Refusal("name", "you have %d tokens, the maximum: revoke one", EACH_MAX);
        }
    }

    private String secret() {
        byte[] bytes = new byte[SECRET_BYTES];
        random.nextBytes(bytes);
        return PREFIX + Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }
}
