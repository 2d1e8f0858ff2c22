package dozo.api;

import dozo.alert.Recipients;
import dozo.api.http.Edited;
import dozo.api.http.Editions;
import dozo.api.http.IfMatch;
import dozo.api.http.Missing;
import dozo.api.http.Page;
import dozo.api.http.Verb;
import dozo.people.Departures;
import dozo.people.Departures.Duty;
import dozo.people.Role;
import dozo.people.Users;
import dozo.people.Users.Realm;
import dozo.people.Users.User;
import dozo.registry.Projects;
import dozo.web.Change;
import jakarta.validation.Valid;
import jakarta.validation.constraints.NotBlank;
import java.net.URI;
import java.security.Principal;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.SortedSet;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PatchMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** Users, their roles, and the projects that are their own. */
@Verb.Group(name = "user", about = "Users", section = "Set-up")
@RestController
@RequestMapping("/api/v1")
public record UserApi(Users users, Departures departures, Projects projects, Editions editions) {

    /**
     * The local user to create.
     *
     * @param password a common one is refused
     * @param roles LAB_MANAGER, OPERATOR, AUDITOR, ADMIN; without any, the user may do nothing yet
     */
    record NewUser(
            @NotBlank(message = "expected a name") String name,

            @NotBlank(message = "expected a password") String password,
            @Nullable List<String> roles) {

        /** Returns the name, without the password. */
        @Override
        public String toString() {
            return name;
        }
    }

    /**
     * The changes to a user; missing fields stay as they are.
     *
     * @param roles LAB_MANAGER, OPERATOR, AUDITOR, ADMIN
     * @param password a common one is refused
     */
    record UserChange(
            @Nullable List<String> roles,
            @Nullable Boolean disabled,
            @Nullable String password) {

        /** Describes the change without the password. */
        @Override
        public String toString() {
            return "roles %s, disabled %s".formatted(roles, disabled);
        }
    }

    /**
     * Your new password.
     *
     * @param present your current password
     * @param password the new one
     */
    record NewPassword(
            @NotBlank(message = "expected the current password")
            String present,

            @NotBlank(message = "expected a password") String password) {

        /** Hides the passwords. */
        @Override
        public String toString() {
            return "a password";
        }
    }

    /**
     * A user, without the password's hash, the stamp of its sessions and the provider's subject.
     *
     * @param gone whether the directory no longer lists this user
     * @param projects the user's own projects
     */
    public record ShownUser(
            String name,
            Realm origin,
            SortedSet<Role> roles,
            SortedSet<String> projects,
            boolean disabled,
            boolean gone,
            Instant createdAt,
            @Nullable Instant confirmedAt)
            implements Edited {

        static ShownUser of(User user) {
            return new ShownUser(
                    user.name(),
                    user.origin(),
                    user.roles(),
                    user.projects(),
                    user.disabled(),
                    user.gone(),
                    user.createdAt(),
                    user.confirmedAt());
        }
    }

    /**
     * Who takes over from a user who leaves.
     *
     * @param to another user who can log in; a lab manager if a project would be without one
     * @param mail the address that gets the mail of the user's recipients; missing: that of the other user's recipient
     */
    record Departure(
            @NotBlank(message = "expected the name of another user")
            String to,

            @Nullable String mail) {}

    /** A user who has left, and what depended on the user until then. */
    public record Departed(String name, String to, List<Duty> duties) {}

    /** A member of a project. */
    public record Member(String name, SortedSet<Role> roles) {

        static Member of(User user) {
            return new Member(user.name(), user.roles());
        }
    }

    /** Shows you: name, roles, projects. */
    @GetMapping("/me")
    ShownUser me(Principal actor) {
        return ShownUser.of(find(actor.getName()));
    }

    /** Changes your password. Ends all your sessions. */
    @PutMapping("/me/password")
    @ResponseStatus(HttpStatus.NO_CONTENT)
    void changePassword(@Valid @RequestBody NewPassword asked, Principal actor) {
        users.changeOwnPassword(actor.getName(), asked.present(), asked.password());
    }

    /** Lists the users by name. */
    @Verb(
            value = "user list",
            columns = {
                "NAME={name}",
                "ROLES={roles}|",
                "PROJECTS={projects}|",
                "FROM={origin}",
                "STATE={disabled?}disabled|{gone?}not in the directory|enabled"
            },
            none = "No user.",
            example = "dozo user list")
    @GetMapping("/users")
    Page<ShownUser> list(
            @RequestParam(defaultValue = "") String after, @RequestParam(defaultValue = Page.LIMIT) int limit) {
        return Page.of(limit, most -> users.page(after, most), User::name).map(ShownUser::of);
    }

    /** Creates a local user. */
    @Verb(
            value = "user add NAME [--roles=ROLE,…] --password-file=FILE<password",
            arguments = "--password-file=a file that contains the password in one line",
            says = "created user {name}",
            example = "dozo user add --roles LAB_MANAGER --password-file tanaka.password tanaka")
    @PostMapping("/users")
    @ResponseStatus(HttpStatus.CREATED)
    ResponseEntity<ShownUser> create(@Valid @RequestBody NewUser asked, Principal actor) {
        Set<Role> roles = asked.roles() == null ? Set.of() : Role.of(asked.roles());
        User user = users.create(asked.name(), asked.password(), roles, actor.getName());
        return ResponseEntity.created(URI.create("/api/v1/users/" + user.name()))
                .body(ShownUser.of(user));
    }

    /** Shows one user. */
    @GetMapping("/users/{name}")
    ShownUser one(@PathVariable String name) {
        return ShownUser.of(find(name));
    }

    /** Replaces the given fields of a user. */
    @Verb(
            value = "user roles NAME [ROLE,…:roles]",
            about = "Sets a user's roles; without any, the user may do nothing.",
            says = {"{name} has the roles {roles}", "{name} has no role"},
            example = "dozo user roles tanaka LAB_MANAGER,AUDITOR")
    @Verb(
            value = "user password NAME FILE<password",
            arguments = "FILE=a file that contains the password in one line",
            about = "Sets a user's password.",
            says = "the password of {name} was changed",
            example = "dozo user password tanaka tanaka.password")
    @Verb(
            value = "user disable NAME disabled=true",
            about = "Disables a user and the user's tokens.",
            says = "{name} is disabled",
            example = "dozo user disable tanaka")
    @Verb(
            value = "user enable NAME disabled=false",
            about = "Enables a user again.",
            says = "{name} is enabled",
            example = "dozo user enable tanaka")
    @PatchMapping("/users/{name}")
    ShownUser change(@PathVariable String name, @RequestBody UserChange asked, IfMatch seen, Principal actor) {
        Set<Role> roles = asked.roles() == null ? null : Role.of(asked.roles());
        return editions.change(
                        seen,
                        () -> users.lock(name),
                        () -> users.find(name).map(ShownUser::of),
                        () -> users.change(name, roles, asked.disabled(), asked.password(), actor.getName()))
                .map(ShownUser::of)
                .orElseThrow(Missing.thing("user", name));
    }

    /** Lists the members of a project by name. */
    @GetMapping("/projects/{project}/members")
    Page<Member> members(
            @PathVariable String project,
            @RequestParam(defaultValue = "") String after,
            @RequestParam(defaultValue = Page.LIMIT) int limit) {
        demandProject(project);
        return Page.of(limit, most -> users.members(project, after, most), User::name)
                .map(Member::of);
    }

    /** Adds a member to a project. */
    @Verb(
            value = "user join NAME PROJECT",
            says = "{name} is a member of {project}",
            example = "dozo user join tanaka P001")
    @PutMapping("/projects/{project}/members/{name}")
    Member join(@PathVariable String project, @PathVariable String name, Principal actor) {
        demandProject(project);
        if (!users.join(project, name, actor.getName())) {
            throw Missing.thing("user", name).get();
        }
        return Member.of(find(name));
    }

    /** Removes a member from a project. Memberships from a directory group remain. */
    @Verb(
            value = "user leave NAME PROJECT",
            says = "{name} is no longer a member of {project}",
            example = "dozo user leave tanaka P001")
    @Change(undo = "PUT /projects/{project}/members/{name}")
    @DeleteMapping("/projects/{project}/members/{name}")
    @ResponseStatus(HttpStatus.NO_CONTENT)
    void leave(@PathVariable String project, @PathVariable String name, Principal actor) {
        demandProject(project);
        if (!users.leave(project, name, actor.getName())) {
            throw Missing.thing("member of " + project + " that an administrator made", name)
                    .get();
        }
    }

    /**
     * Lists what depends on a user: recipients with the user's mail address, tokens, projects without another lab manager, and open holds,
     * erasures, restores and runs that name the user. Nothing changes.
     */
    @Verb(
            value = "user duties NAME",
            columns = {"WHAT={kind word}", "NAME={subject}", "DETAIL={detail}|", "LAST USED={lastUsedAt}"},
            none = "Nothing depends on this user.",
            example = "dozo user duties tanaka")
    @GetMapping("/users/{name}/duties")
    List<Duty> duties(@PathVariable String name) {
        return departures.duties(find(name).name());
    }

    /**
     * Lets a user leave: another user becomes a member of the projects without another lab manager, the recipients get another address, the
     * tokens are revoked, and the user is disabled. The answer lists what depended on the user.
     */
    @Verb(
            value = "user leave NAME --to=OTHER [--mail=ADDRESS]",
            about =
                    "Removes a member from a project; with --to, lets a user leave Dozo: another user takes over what depends on the"
                            + " user (dozo user duties), the tokens are revoked, and the user is disabled.",
            lines = {"{name} has left; {to} takes over"},
            items = "duties",
            each = "  {kind word} {subject}[: {detail}]",
            example = "dozo user leave tanaka --to suzuki --mail suzuki@example.org")
    @Change(destroys = true)
    @PostMapping("/users/{name}/departure")
    Departed depart(@PathVariable String name, @Valid @RequestBody Departure asked, Principal actor) {
        if (asked.mail() != null) {
            Recipients.checkMail("mail", asked.mail());
        }
        return departures
                .leave(name, asked.to(), asked.mail(), actor.getName())
                .map(duties -> new Departed(name, asked.to(), duties))
                .orElseThrow(Missing.thing("user", name));
    }

    private User find(String name) {
        return users.find(name).orElseThrow(Missing.thing("user", name));
    }

    private void demandProject(String code) {
        if (projects.find(code).isEmpty()) {
            throw Missing.thing("project", code).get();
        }
    }
}
