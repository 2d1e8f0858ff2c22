package dozo.people;

import com.google.errorprone.annotations.FormatMethod;
import com.google.errorprone.annotations.FormatString;
import dozo.ledger.Ledger;
import dozo.ledger.Rows;
import dozo.registry.Refusal;
import java.sql.Timestamp;
import java.sql.Types;
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
        if (insert(name, Realm.LOCAL, encoder.encode(PasswordRules.checked(name, password))) == 0) {
            throw Refusal.conflict("name", "user %s exists already", name);
        }
        setRoles(find(name).orElseThrow().id(), roles);
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
            replaceHash(before, encoder.encode(PasswordRules.checked(name, password)), actor);
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
        keepChange(actor, before, after);
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
        replaceHash(user, encoder.encode(PasswordRules.checked(name, fresh)), name);
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
                .params(Map.of("user", user.get().id(), "project", project))
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
            setRoles(find(ADMINISTRATOR).orElseThrow().id(), Set.of(Role.ADMIN));
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
                .params(Map.of("now", Timestamp.from(clock.instant()), "id", before.id()))
                .param("subject", subject, Types.VARCHAR)
                .update();
        setRoles(before.id(), roles);
        setProjects(before.id(), projects);
        User after = find(name).orElseThrow();
        keepChange(Ledger.SYSTEM, before, after);
        return Optional.of(after);
    }

    private boolean isKnownAsOther(String subject, String name) {
        return jdbc.sql("select exists (select from dozo_user where subject = :subject and name <> :name)")
                .params(Map.of("subject", subject, "name", name))
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
                .params(Map.of("after", after, "limit", limit))
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
                .params(Map.of("project", project, "after", after, "limit", limit))
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
            ledger.change(actor, "user.changed", after.name(), before.standing(), after.standing());
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
        return jdbc.sql("""
                        insert into dozo_user (name, origin, password_hash, created_at, confirmed_at)
                        values (:name, :origin, :hash, :now, case when :origin <> 'LOCAL' then :now::timestamptz end)
                        on conflict do nothing
                        """)
                .params(Map.of("name", name, "origin", origin.name(), "now", Timestamp.from(clock.instant())))
                .param("hash", hash, Types.VARCHAR)
                .update();
    }

    private void setRoles(int id, Set<Role> roles) {
        String[] names = roles.stream().map(Role::name).toArray(String[]::new);
        jdbc.sql("delete from user_role where user_id = :id and role <> all(:roles::text[])")
                .params(Map.of("id", id, "roles", names))
                .update();
        jdbc.sql("insert into user_role (user_id, role) select :id, unnest(:roles::text[]) on conflict do nothing")
                .params(Map.of("id", id, "roles", names))
                .update();
    }

    private void replaceHash(User user, @Nullable String hash, String actor) {
        jdbc.sql("update dozo_user set password_hash = :hash, stamp = stamp + 1 where user_id = :id")
                .param("hash", hash)
                .param("id", user.id())
                .update();
        ledger.append(actor, "password.changed", user.name(), Map.of());
    }

    /**
     * Refuses a change that would lock out the administrator of the password file, or that is made elsewhere. What is
     * null does not change.
     */
    private static void refuseLockout(
            User user, @Nullable Set<Role> roles, @Nullable Boolean disabled, @Nullable String password) {
        String name = user.name();
        boolean withRoles = roles != null;
        boolean withPassword = password != null;
        switch (user.origin()) {
            // Has both here.
            case LOCAL -> {}
            case DIRECTORY -> {
                refuseIf(withRoles, "roles", "%s is a directory user: the directory's groups define the roles", name);
                refuseIf(
                        withPassword, "password", "%s is a directory user: change the password in the directory", name);
            }
            case OIDC -> {
                refuseIf(
                        withRoles,
                        "roles",
                        "%s logs in by single sign-on: the provider's groups define the roles",
                        name);
                refuseIf(withPassword, "password", "%s logs in by single sign-on and has no password here", name);
            }
        }
        if (name.equals(ADMINISTRATOR)) {
            refuseIf(
                    withPassword,
                    "password",
                    "the password of %s is in the password file: change it there and restart the service",
                    name);
            refuseIf(
                    disabled != null && disabled, "disabled", "%s is the emergency login and cannot be disabled", name);
            refuseIf(
                    roles != null && !roles.contains(Role.ADMIN),
                    "roles",
                    "%s is the emergency login and keeps the role ADMIN",
                    name);
        }
    }

    @FormatMethod
    private static void refuseIf(boolean wrong, String field, @FormatString String format, String user) {
        if (wrong) {
            throw new Refusal(field, format, user);
        }
    }

    private static String roleNames(Collection<Role> roles) {
        return roles.stream().sorted().map(Role::name).collect(Collectors.joining(", "));
    }
}
