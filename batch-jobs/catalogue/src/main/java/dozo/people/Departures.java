package dozo.people;

import dozo.file.Digest;
import dozo.ledger.Ledger;
import dozo.ledger.Rows;
import dozo.people.Users.User;
import dozo.registry.Refusal;
import java.sql.Timestamp;
import java.sql.Types;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/**
 * What depends on a user, and how somebody else takes it over when the user leaves. The user's row stays, because the
 * ledger names it.
 */
@Component
public class Departures {

    /**
     * Of users {@code u}. A mail address is a user's if it, or its part before the @, is the user's name: recipients name no users. A lab
     * manager is the only one of a project if the others cannot log in. What is named by an open hold, erasure, restore or run stays there.
     */
    private static final String SELECT = """
            with u as (select * from dozo_user where name = :name or (:name::text is null and (disabled or gone)))
            select u.name as user, 'RECIPIENT' as kind, r.name as subject, r.address as detail, null::timestamptz as last_used_at
            from recipient r
            join u on r.channel = 'mail' and u.name in (lower(r.address), lower(split_part(r.address, '@', 1)))
            union all
            select u.name, 'TOKEN', t.name, case when t.read_only then 'read' else 'change' end, t.last_used_at
            from api_token t join u using (user_id)
            where t.revoked_at is null and t.expires_at > :now
            union all
            select distinct u.name, 'PROJECT', p.code, '', null::timestamptz
            from u join membership m using (user_id) join project p using (project_id)
            join user_role w on w.user_id = u.user_id and w.role = 'LAB_MANAGER'
            where not exists (select from membership o join dozo_user ou using (user_id) join user_role r using (user_id)
                              where o.project_id = m.project_id and o.user_id <> u.user_id and r.role = 'LAB_MANAGER'
                                and not ou.disabled and not ou.gone)
            union all
            select u.name, 'HOLD', h.hold_id::text, p.code, null
            from hold h join project p using (project_id) join u on h.placed_by = u.name
            where h.ended_at is null and (h.until is null or h.until > :now)
            union all
            select u.name, 'ERASURE', x.erasure_id::text, p.code || '/' || x.code, null
            from erasure x join project p using (project_id) join u on u.name in (x.requested_by, x.approved_by)
            where x.withdrawn_at is null and x.completed_at is null
            union all
            select u.name, 'RESTORE', r.restore_id::text, '', null
            from restore r join u on r.requested_by = u.name where r.ended_at is null
            union all
            select u.name, 'RUN', r.run_id::text, case when r.paused_by = u.name then 'paused' else '' end, null
            from run r join u on u.name in (r.requested_by, r.paused_by) where r.ended_at is null
            order by 1, 2, 3
            """;

    private static final RowMapper<Duty> DUTY = Rows.of(Duty.class);

    private final JdbcClient jdbc;
    private final Users users;
    private final Tokens tokens;
    private final Ledger ledger;
    private final InstantSource clock;

    /** What depends on a user. The first three are handed over or end when the user leaves; the others stay. */
    public enum Kind {
        RECIPIENT,
        TOKEN,
        /** Has no other lab manager who can log in. */
        PROJECT,
        HOLD,
        ERASURE,
        RESTORE,
        RUN
    }

    /**
     * One thing that depends on a user.
     *
     * @param subject the name of the recipient or token, the project's code, or a number
     * @param detail the recipient's address, whether a token may read or change, what a hold or an erasure is about, or whether a run is
     *     paused; else empty
     * @param lastUsedAt of a token, to the hour; null: never, or no token
     */
    public record Duty(
            String user,
            Kind kind,
            String subject,
            String detail,
            @Nullable Instant lastUsedAt) {}

    public Departures(JdbcClient jdbc, Users users, Tokens tokens, Ledger ledger, InstantSource clock) {
        this.jdbc = jdbc;
        this.users = users;
        this.tokens = tokens;
        this.ledger = ledger;
        this.clock = clock;
    }

    /** Returns what depends on a user; nothing for an unknown one. */
    public List<Duty> duties(String name) {
        return duties(jdbc, name, clock.instant());
    }

    /** Returns what depends on users who cannot log in any more and has not been handed over. */
    public static List<Duty> left(JdbcClient jdbc, Instant now) {
        return duties(jdbc, null, now).stream()
                .filter(duty -> duty.kind.compareTo(Kind.PROJECT) <= 0)
                .toList();
    }

    private static List<Duty> duties(JdbcClient jdbc, @Nullable String name, Instant now) {
        return jdbc.sql(SELECT)
                .param("name", name, Types.VARCHAR)
                .param("now", Timestamp.from(now))
                .query(DUTY)
                .list();
    }

    /**
     * Lets a user leave: another user becomes a member of the projects without another lab manager, another address gets the mail of the
     * recipients, the tokens are revoked, and the user is disabled, which ends the sessions at once. All of it or nothing is done. Harmless
     * if repeated: it hands over what came since.
     *
     * @param mail the address of the recipients from now on; null: that of the other user's recipient
     * @return what depended on the user before; empty: the user does not exist
     * @throws Refusal if the other user cannot take it over, no address is known, or the user is the emergency login
     */
    @Transactional
    public Optional<List<Duty>> leave(String name, String to, @Nullable String mail, String actor) {
        // In the order of names, so that two departures do not wait for each other.
        Stream.of(name, to).sorted().forEach(users::lock);
        // Of two managers of a project who leave at the same time, the second one sees that the first has left.
        jdbc.sql("""
                        select from project where project_id in (
                            select project_id from membership join dozo_user using (user_id) where name = :name)
                        order by project_id for no key update
                        """).param("name", name).query().listOfRows();
        if (users.find(name).isEmpty()) {
            return Optional.empty();
        }
        User other = users.find(to)
                .filter(user -> user.active() && !to.equals(name))
                .orElseThrow(() -> new Refusal("to", "\"%s\": expected another user who can log in", to));
        List<Duty> duties = duties(name);
        List<String> projects = subjects(duties, Kind.PROJECT);
        if (!projects.isEmpty() && !other.roles().contains(Role.LAB_MANAGER)) {
            throw new Refusal("to", "%s is not a lab manager, and these projects have no other one: %s", to, projects);
        }
        projects.forEach(project -> users.join(project, to, actor));
        duties.stream()
                .filter(duty -> duty.kind == Kind.RECIPIENT)
                .forEach(recipient -> readdress(recipient, mail == null ? addressOf(to, recipient) : mail, actor));
        tokens.of(name).forEach(token -> tokens.revoke(name, token.id(), actor));
        users.change(name, null, true, null, actor);
        ledger.append(
                actor,
                "user.left",
                name,
                Map.of(
                        "to",
                        to,
                        "projects",
                        projects,
                        "recipients",
                        subjects(duties, Kind.RECIPIENT),
                        "tokens",
                        subjects(duties, Kind.TOKEN)));
        return Optional.of(duties);
    }

    private static List<String> subjects(List<Duty> duties, Kind kind) {
        return duties.stream()
                .filter(duty -> duty.kind == kind)
                .map(Duty::subject)
                .toList();
    }

    private String addressOf(String to, Duty recipient) {
        return duties(to).stream()
                .filter(duty -> duty.kind == Kind.RECIPIENT)
                .map(Duty::detail)
                .findFirst()
                .orElseThrow(() -> new Refusal(
                        "mail",
                        "recipient %s has the address %s: expected the address that gets its mail from now on",
                        recipient.subject,
                        recipient.detail));
    }

    /** Changes the address of a recipient. Like every address, which may name a person, it is in the ledger only as a digest. */
    private void readdress(Duty recipient, String address, String actor) {
        int changed = jdbc.sql("update recipient set address = :address where name = :name and address = :before")
                .params(Map.of("address", address, "name", recipient.subject, "before", recipient.detail))
                .update();
        if (changed > 0) {
            ledger.change(
                    actor,
                    "recipient.changed",
                    recipient.subject,
                    "mail to SHA-256 " + Digest.ofText(recipient.detail),
                    "mail to SHA-256 " + Digest.ofText(address));
        }
    }
}
