package dozo.people;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.FormatMethod;
import com.google.errorprone.annotations.FormatString;
import dozo.ledger.Ledger;
import dozo.ledger.Rows;
import dozo.registry.Refusal;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.security.crypto.password.PasswordEncoder;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

/**
 * The users who may log in, with their roles and projects. Every change is in the ledger; passwords and their hashes
 * are not.
 */
@Component
public class Users {

    /** The user whose password is in the password file. */
    public static final String ADMINISTRATOR = "admin";

    private static final Pattern NAME = Pattern.compile("[a-z0-9][a-z0-9._@-]{0,63}");

    /** Names that act in the ledger without being users. */
    private static final Set<String> TAKEN = Set.of(Ledger.SYSTEM, "demo");

    private static final int PASSWORD_LENGTH_MIN = 12;

    /** Earlier hashes (bcrypt) allow no more. */
    private static final int PASSWORD_BYTES_MAX = 72;

    private static final Set<String> COMMON = common();

    private static final String SELECT = """
            select u.*, u.user_id as id, u.password_hash as hash,
                   array(select role from user_role r where r.user_id = u.user_id) as roles,
                   array(select distinct p.code from membership m join project p using (project_id)
                         where m.user_id = u.user_id) as projects
            from dozo_user u
            """;

    private static final RowMapper<User> USER = Rows.of(User.class);

    private final JdbcClient jdbc;
    private final Ledger ledger;
    private final PasswordEncoder encoder;
    private final InstantSource clock;

    /** Where a user's login is checked. */
    public enum Realm {
        LOCAL,
        /** An LDAP directory. */
        DIRECTORY,
        /** A provider of OpenID Connect. */
        OIDC
    }

    /**
     * A user.
     *
     * @param hash of the password; null: it is not checked here
     * @param gone the directory no longer knows this user
     * @param projects codes of a lab manager's own projects
     * @param confirmedAt when the directory last knew this user, or the provider's user last logged in; null for a
     * local one
     * @param subject who the user is at the provider; null: not known, or not a user of the provider
     */
    public record User(
            int id,
            String name,
            Realm origin,
            @Nullable String hash,
            boolean disabled,
            boolean gone,
            int stamp,
            SortedSet<Role> roles,
            SortedSet<String> projects,
            Instant createdAt,
            @Nullable Instant confirmedAt,
            @Nullable String subject) {

        /** Returns whether the user can log in at all. */
        public boolean active() {
            return !disabled && !gone;
        }

        /** Returns the name only, without the hash. */
        @Override
        public String toString() {
            return name;
        }

        private String standing() {
            return "%s; projects %s; %s"
                    .formatted(
                            roles.isEmpty() ? "no role" : roleNames(roles),
                            projects.isEmpty() ? "none" : String.join(", ", projects),
                            disabled ? "disabled" : gone ? "not in the directory" : "enabled");
        }
    }

    public Users(JdbcClient jdbc, Ledger ledger, PasswordEncoder encoder, InstantSource clock) {
        this.jdbc = jdbc;
        this.ledger = ledger;
        this.encoder = encoder;
        this.clock = clock;
    }

    /**
     * Creates a local user.
     *
     * @throws Refusal if the name is malformed or taken, or the password is too short, too long or common
     */
    @Transactional
    public User create(String name, String password, Set<Role> roles, String actor) {
        if (!NAME.matcher(name).matches()) {
            throw new Refusal(
                    "name",
                    "\"%s\": expected a name of 1 to 64 characters a-z, 0-9, ., _, @ and -, starting with a letter or digit",
                    name);
        }
        if (TAKEN.contains(name)) {
            throw new Refusal("name", "\"%s\" is reserved: the ledger uses it for the program itself", name);
        }
        int inserted = insert(name, Realm.LOCAL, encoder.encode(checked(name, password)));
        if (inserted == 0) {
            throw Refusal.conflict("name", "user %s exists already", name);
        }
        User created = find(name).orElseThrow();
        setRoles(created.id(), roles);
        ledger.append(actor, "user.created", name, Map.of("origin", Realm.LOCAL, "roles", roleNames(roles)));
        return find(name).orElseThrow();
    }

    /**
     * Changes what is not null.
     *
     * @return the changed user; empty if there is none with this name
     * @throws Refusal if the change would lock out the administrator of the password file, or give roles or a password
     * to a user who is not local
     */
    @Transactional
    public Optional<User> change(
            String name,
            @Nullable Set<Role> roles,
            @Nullable Boolean disabled,
            @Nullable String password,
            String actor) {
        // Locked, so that the ledger's "before" is what this change replaces.
        Optional<User> found = locked(name);
        if (found.isEmpty()) {
            return found;
        }
        User before = found.get();
        refuseLockout(before, roles, disabled, password);
        if (password != null) {
            setPassword(before, password, actor);
        }
        if (disabled != null && disabled != before.disabled()) {
            // NB: forgets the subject, so that a person who was created anew at the provider can be let in again.
            jdbc.sql("""
                            update dozo_user
                            set disabled = :disabled, stamp = stamp + 1, subject = case when :disabled then subject end
                            where user_id = :id
                            """).param("disabled", disabled).param("id", before.id()).update();
        }
        if (roles != null) {
            setRoles(before.id(), roles);
        }
        User after = find(name).orElseThrow();
        if (!after.standing().equals(before.standing())) {
            ledger.append(actor, "user.changed", name, Map.of("before", before.standing(), "after", after.standing()));
        }
        return Optional.of(after);
    }

    /**
     * Sets a user's own password.
     *
     * @throws Refusal if the current password is wrong or the new one is invalid
     */
    @Transactional
    public void changeOwnPassword(String name, String present, String fresh) {
        User user = locked(name).orElseThrow();
        refuseLockout(user, null, null, fresh);
        if (user.hash() == null || !encoder.matches(present, user.hash())) {
            throw new Refusal("present", "the current password is wrong");
        }
        setPassword(user, fresh, name);
    }

    /**
     * Makes a user a member of a project.
     *
     * @return whether the user and the project exist
     */
    @Transactional
    public boolean join(String project, String name, String actor) {
        Optional<User> user = locked(name);
        if (user.isEmpty() || !isProject(project)) {
            return false;
        }
        int joined = jdbc.sql("""
                        insert into membership (user_id, project_id)
                        select :user, project_id from project where code = :project
                        on conflict do nothing
                        """)
                .param("user", user.get().id())
                .param("project", project)
                .update();
        if (joined > 0) {
            ledger.append(actor, "project.joined", project, Map.of("user", name));
        }
        return true;
    }

    /**
     * Ends a user's membership in a project, unless a group of the directory gives it.
     *
     * @return whether an administrator had given it
     */
    @Transactional
    public boolean leave(String project, String name, String actor) {
        int left = jdbc.sql("""
                        delete from membership m using dozo_user u, project p
                        where m.user_id = u.user_id and m.project_id = p.project_id and not m.by_directory
                          and u.name = :name and p.code = :project
                        """).param("name", name).param("project", project).update();
        if (left > 0) {
            ledger.append(actor, "project.left", project, Map.of("user", name));
        }
        return left > 0;
    }

    /**
     * Hashes a user's password anew if its hash was made by an earlier method. It is the same password, so sessions
     * continue. Harmless if somebody has changed the password meanwhile.
     *
     * @param password that was right
     */
    public void renewHash(User user, String password) {
        if (encoder.upgradeEncoding(user.hash())) {
            jdbc.sql("update dozo_user set password_hash = :hash where user_id = :id and password_hash = :old")
                    .param("hash", encoder.encode(password))
                    .param("id", user.id())
                    .param("old", user.hash())
                    .update();
        }
    }

    /** Ensures that the administrator of the password file exists, with this password and the role ADMIN. */
    @Transactional
    public void keepAdministrator(String password) {
        Optional<User> known = find(ADMINISTRATOR);
        if (known.isEmpty()) {
            insert(ADMINISTRATOR, Realm.LOCAL, encoder.encode(password));
            User made = find(ADMINISTRATOR).orElseThrow();
            setRoles(made.id(), Set.of(Role.ADMIN));
            ledger.append(
                    Ledger.SYSTEM, "user.created", ADMINISTRATOR, Map.of("origin", Realm.LOCAL, "roles", Role.ADMIN));
        } else if (!encoder.matches(password, known.get().hash())) {
            replaceHash(known.get(), encoder.encode(password), Ledger.SYSTEM);
        }
    }

    /**
     * Stores a user's data from the directory or the provider. Creates the user at the first login.
     *
     * @param subject who the user is at the provider; null for a user of the directory
     * @param projects codes; codes without a project are ignored
     * @return empty if the name belongs to a user of another origin, or to another person at the provider, or the person
     * has another name here
     */
    @Transactional
    public Optional<User> confirm(
            String name, Realm origin, @Nullable String subject, Set<Role> roles, Set<String> projects) {
        // One person logs in at a time, so that two first logins do not create two users.
        if (subject != null) {
            jdbc.sql("select pg_advisory_xact_lock(hashtextextended(:subject, 0))::text")
                    .param("subject", subject)
                    .query((row, n) -> "")
                    .single();
            if (isKnownAsOther(subject, name)) {
                return Optional.empty();
            }
        }
        if (insert(name, origin, null) > 0) {
            ledger.append(Ledger.SYSTEM, "user.created", name, Map.of("origin", origin));
        }
        Optional<User> found = locked(name)
                .filter(user -> user.origin() == origin
                        && (user.subject() == null || user.subject().equals(subject)));
        if (found.isEmpty()) {
            return found;
        }
        User before = found.get();
        jdbc.sql("update dozo_user set confirmed_at = :now, gone = false, subject = :subject where user_id = :id")
                .param("now", Timestamp.from(clock.instant()))
                .param("subject", subject, java.sql.Types.VARCHAR)
                .param("id", before.id())
                .update();
        setRoles(before.id(), roles);
        setProjects(before.id(), projects);
        User after = find(name).orElseThrow();
        keepChange(Ledger.SYSTEM, before, after);
        return Optional.of(after);
    }

    private boolean isKnownAsOther(String subject, String name) {
        return jdbc.sql("select exists (select from dozo_user where subject = :subject and name <> :name)")
                .param("subject", subject)
                .param("name", name)
                .query((row, n) -> row.getBoolean(1))
                .single();
    }

    /** Marks a user as unknown to the directory: the login is closed until the directory knows the user again. */
    @Transactional
    public void gone(String name) {
        Optional<User> before = locked(name).filter(user -> user.origin() == Realm.DIRECTORY && !user.gone());
        if (before.isPresent()) {
            jdbc.sql("update dozo_user set gone = true, stamp = stamp + 1 where user_id = :id")
                    .param("id", before.get().id())
                    .update();
            keepChange(Ledger.SYSTEM, before.get(), find(name).orElseThrow());
        }
    }

    /** Returns whether a user may have this name. */
    public static boolean isName(String name) {
        return NAME.matcher(name).matches() && !TAKEN.contains(name);
    }

    /** Locks a user against other changes until the end of the transaction. */
    @Transactional(propagation = Propagation.MANDATORY)
    public void lock(String name) {
        jdbc.sql("select from dozo_user where name = :name for no key update")
                .param("name", name)
                .query()
                .listOfRows();
    }

    public Optional<User> find(String name) {
        return jdbc.sql(SELECT + "where u.name = :name")
                .param("name", name)
                .query(USER)
                .optional();
    }

    public Optional<User> find(int id) {
        return jdbc.sql(SELECT + "where u.user_id = :id")
                .param("id", id)
                .query(USER)
                .optional();
    }

    /** Returns at most {@code limit} users with names after {@code after}, by name. */
    public List<User> page(String after, int limit) {
        return jdbc.sql(SELECT + "where u.name > :after order by u.name limit :limit")
                .param("after", after)
                .param("limit", limit)
                .query(USER)
                .list();
    }

    /** Returns at most {@code limit} members of a project with names after {@code after}, by name. */
    public List<User> members(String project, String after, int limit) {
        return jdbc.sql(SELECT + """
                        where u.name > :after and u.user_id in (
                            select m.user_id from membership m join project p using (project_id) where p.code = :project)
                        order by u.name limit :limit
                        """)
                .param("project", project)
                .param("after", after)
                .param("limit", limit)
                .query(USER)
                .list();
    }

    // NB: two statements, because one that waits for the lock still reads roles and projects as they were before the
    // wait.
    Optional<User> locked(String name) {
        lock(name);
        return find(name);
    }

    private void keepChange(String actor, User before, User after) {
        if (!after.standing().equals(before.standing())) {
            ledger.append(
                    actor,
                    "user.changed",
                    after.name(),
                    Map.of("before", before.standing(), "after", after.standing()));
        }
    }

    private void setProjects(int id, Set<String> projects) {
        String[] codes = projects.toArray(String[]::new);
        jdbc.sql("""
                        delete from membership
                        where user_id = :id and by_directory
                          and project_id not in (select project_id from project where code = any(:codes::text[]))
                        """).param("id", id).param("codes", codes).update();
        jdbc.sql("""
                        insert into membership (user_id, project_id, by_directory)
                        select :id, project_id, true from project where code = any(:codes::text[])
                        on conflict do nothing
                        """).param("id", id).param("codes", codes).update();
    }

    private boolean isProject(String code) {
        return jdbc.sql("select exists (select from project where code = :code)")
                .param("code", code)
                .query((row, n) -> row.getBoolean(1))
                .single();
    }

    private int insert(String name, Realm origin, @Nullable String hash) {
        Timestamp now = Timestamp.from(clock.instant());
        return jdbc.sql("""
                        insert into dozo_user (name, origin, password_hash, created_at, confirmed_at)
                        values (:name, :origin, :hash, :now, case when :origin <> 'LOCAL' then :now::timestamptz end)
                        on conflict do nothing
                        """)
                .param("name", name)
                .param("origin", origin.name())
                .param("hash", hash, java.sql.Types.VARCHAR)
                .param("now", now)
                .update();
    }

    private void setRoles(int id, Set<Role> roles) {
        String[] names = roles.stream().map(Role::name).toArray(String[]::new);
        jdbc.sql("delete from user_role where user_id = :id and role <> all(:roles::text[])")
                .param("id", id)
                .param("roles", names)
                .update();
        jdbc.sql("insert into user_role (user_id, role) select :id, unnest(:roles::text[]) on conflict do nothing")
                .param("id", id)
                .param("roles", names)
                .update();
    }

    private void setPassword(User user, String password, String actor) {
        replaceHash(user, encoder.encode(checked(user.name(), password)), actor);
    }

    private void replaceHash(User user, @Nullable String hash, String actor) {
        jdbc.sql("update dozo_user set password_hash = :hash, stamp = stamp + 1 where user_id = :id")
                .param("hash", hash)
                .param("id", user.id())
                .update();
        ledger.append(actor, "password.changed", user.name(), Map.of());
    }

    private static void refuseLockout(
            User user, @Nullable Set<Role> roles, @Nullable Boolean disabled, @Nullable String password) {
        switch (user.origin()) {
            case LOCAL -> {
                // Has both here.
            }
            case DIRECTORY -> {
                refuseIf(
                        roles != null,
                        "roles",
                        "%s is a directory user: the directory's groups define the roles",
                        user.name());
                refuseIf(
                        password != null,
                        "password",
                        "%s is a directory user: change the password in the directory",
                        user.name());
            }
            case OIDC -> {
                refuseIf(
                        roles != null,
                        "roles",
                        "%s logs in by single sign-on: the provider's groups define the roles",
                        user.name());
                refuseIf(
                        password != null,
                        "password",
                        "%s logs in by single sign-on and has no password here",
                        user.name());
            }
        }
        if (user.name().equals(ADMINISTRATOR)) {
            refuseIf(
                    password != null,
                    "password",
                    "the password of %s is in the password file: change it there and restart the service",
                    user.name());
            refuseIf(
                    disabled != null && disabled,
                    "disabled",
                    "%s is the emergency login and cannot be disabled",
                    user.name());
            refuseIf(
                    roles != null && !roles.contains(Role.ADMIN),
                    "roles",
                    "%s is the emergency login and keeps the role ADMIN",
                    user.name());
        }
    }

    @FormatMethod
    private static void refuseIf(boolean wrong, String field, @FormatString String format, String user) {
        if (wrong) {
            throw new Refusal(field, format, user);
        }
    }

    private static String checked(String name, String password) {
        if (password.codePointCount(0, password.length()) < PASSWORD_LENGTH_MIN
                || password.getBytes(StandardCharsets.UTF_8).length > PASSWORD_BYTES_MAX) {
            throw new Refusal(
                    "password",
                    "expected a password of at least %d characters and at most %d bytes",
                    PASSWORD_LENGTH_MIN,
                    PASSWORD_BYTES_MAX);
        }
        if (password.toLowerCase(java.util.Locale.ROOT).contains(name)) {
            throw new Refusal("password", "the password must not contain the user name");
        }
        if (COMMON.contains(password.toLowerCase(java.util.Locale.ROOT))) {
            throw new Refusal(
                    "password",
                    "the password is one of the most common ones; expected one that nobody else would choose");
        }
        return password;
    }

    /** Returns the common passwords of the minimum length in the lists of Django and zxcvbn, in lower case. */
    private static Set<String> common() {
        try (InputStream in = requireNonNull(Users.class.getResourceAsStream("common-passwords"))) {
            return Set.of(new String(in.readAllBytes(), StandardCharsets.US_ASCII).split("\\s+"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String roleNames(Collection<Role> roles) {
        return roles.stream().sorted().map(Role::name).collect(Collectors.joining(", "));
    }
}
