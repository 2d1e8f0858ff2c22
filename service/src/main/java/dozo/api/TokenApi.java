package dozo.api;

import dozo.api.http.Missing;
import dozo.api.http.Page;
import dozo.api.http.Verb;
import dozo.people.Role;
import dozo.people.Scope;
import dozo.people.Tokens;
import dozo.people.Tokens.NewToken;
import dozo.people.Tokens.Token;
import dozo.people.Users;
import dozo.web.Change;
import jakarta.validation.Valid;
import jakarta.validation.constraints.NotBlank;
import java.net.URI;
import java.security.Principal;
import java.time.Instant;
import java.util.List;
import java.util.SortedSet;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** Tokens: a user's own, and those of other users to revoke. */
@Verb.Group(name = "token", about = "Tokens for programs", section = "Set-up")
@RestController
@RequestMapping("/api/v1")
public record TokenApi(Tokens tokens, Users users) {

    /**
     * The token to create.
     *
     * @param name what it is for
     * @param roles the roles that it is limited to; default: all of yours
     * @param readOnly true: it may change nothing; default: false
     * @param scope {@code studies}: it may only ask whether a study may be deleted; default: {@code all}
     * @param days until it expires, 1 to 366; default: 90
     */
    record WantedToken(
            @NotBlank(message = "expected a name") String name,
            @Nullable List<String> roles,
            @Nullable Boolean readOnly,
            @Nullable String scope,
            @Nullable Integer days) {}

    /**
     * A token. Only what stands here leaves the service, whatever Dozo keeps of tokens.
     *
     * @param scope {@code all}, or {@code studies}: it may only ask whether a study may be deleted
     * @param secret only in the response to its creation
     * @param lastUsedAt to the hour; missing: never
     */
    public record ShownToken(
            int id,
            String name,
            SortedSet<Role> roles,
            boolean readOnly,
            String scope,
            Instant createdAt,
            Instant expiresAt,
            @Nullable Instant lastUsedAt,
            @Nullable String secret) {

        static ShownToken of(Token token, @Nullable String secret) {
            return new ShownToken(
                    token.id(),
                    token.name(),
                    token.roles(),
                    token.readOnly(),
                    token.scope().word(),
                    token.createdAt(),
                    token.expiresAt(),
                    token.lastUsedAt(),
                    secret);
        }

        /** Returns the name, without the secret. */
        @Override
        public String toString() {
            return name;
        }
    }

    /** Lists your tokens. */
    @Verb(
            value = "token list",
            about = "Lists your tokens, or another user's.",
            columns = {
                ">ID={id}",
                "NAME={name}",
                "ROLES={roles}",
                "MAY={scope=studies?}check studies|{readOnly?}read|change",
                "EXPIRES={expiresAt}",
                "LAST USED={lastUsedAt}"
            },
            none = "No token.",
            example = "dozo token list")
    @GetMapping("/me/tokens")
    Page<ShownToken> own(Principal actor) {
        return shown(actor.getName());
    }

    /** Creates a token for yourself. The response contains its secret, once. */
    @Verb(
            value = "token add NAME [--roles=ROLE,…] [--read-only] [--studies:scope=\"studies\"] [--days=N]",
            arguments = "--studies=it may only ask whether a study may be deleted: for a scanner's console",
            about = "Creates a token for you and prints its secret once. Requires a password login.",
            says = "{secret}",
            result = true,
            example = "dozo token add --read-only --days 30 nightly-report")
    @PostMapping("/me/tokens")
    @ResponseStatus(HttpStatus.CREATED)
    ResponseEntity<ShownToken> create(@Valid @RequestBody WantedToken asked, Principal actor) {
        NewToken made = tokens.create(
                actor.getName(),
                asked.name(),
                asked.roles() == null ? null : Role.of(asked.roles()),
                asked.readOnly() != null && asked.readOnly(),
                asked.scope() == null ? Scope.ALL : Scope.of(asked.scope()),
                asked.days() == null ? Tokens.DAYS_USUAL : asked.days());
        return ResponseEntity.created(
                        URI.create("/api/v1/me/tokens/" + made.token().id()))
                .body(ShownToken.of(made.token(), made.secret()));
    }

    /**
     * How a token gets a new secret.
     *
     * @param graceDays how long the former secret is valid as well, 0 to 30 days; 0: it is refused at once; default: 7
     */
    record WantedRotation(@Nullable Integer graceDays) {}

    /**
     * Gives one of your tokens a new secret, for as long as the token was created for. The response contains it, once. The former secret is
     * valid for a while, so that programs can change over; the one before that is not.
     */
    @Verb(
            value = "token rotate ID [--grace-days=N]",
            about = "Gives your token a new secret and prints it once. Requires a password login.",
            says = "{secret}",
            result = true,
            example = "dozo token rotate --grace-days 7 3")
    @PostMapping("/me/tokens/{id}/rotation")
    ShownToken rotate(@PathVariable int id, @Valid @RequestBody WantedRotation asked, Principal actor) {
        NewToken made = tokens.rotate(
                        actor.getName(), id, asked.graceDays() == null ? Tokens.GRACE_DAYS_USUAL : asked.graceDays())
                .orElseThrow(Missing.thing("token of " + actor.getName(), id));
        return ShownToken.of(made.token(), made.secret());
    }

    /** Revokes one of your tokens. */
    @Verb(
            value = "token revoke ID",
            about = "Revokes a token at once: yours, or another user's.",
            says = "revoked token {id}",
            example = "dozo token revoke 3")
    @Change(destroys = true)
    @DeleteMapping("/me/tokens/{id}")
    @ResponseStatus(HttpStatus.NO_CONTENT)
    void revokeOwn(@PathVariable int id, Principal actor) {
        revoke(actor.getName(), id, actor);
    }

    /** Lists another user's tokens. */
    @Verb(value = "token list --user=NAME:name", none = "No token.", example = "dozo token list --user tanaka")
    @GetMapping("/users/{name}/tokens")
    Page<ShownToken> of(@PathVariable String name) {
        if (users.find(name).isEmpty()) {
            throw Missing.thing("user", name).get();
        }
        return shown(name);
    }

    /** Revokes one of another user's tokens. */
    @Verb(
            value = "token revoke ID --user=NAME:name",
            says = "revoked token {id}",
            example = "dozo token revoke --user tanaka 3")
    @Change(destroys = true)
    @DeleteMapping("/users/{name}/tokens/{id}")
    @ResponseStatus(HttpStatus.NO_CONTENT)
    void revoke(@PathVariable String name, @PathVariable int id, Principal actor) {
        if (!tokens.revoke(name, id, actor.getName())) {
            throw Missing.thing("token of " + name, id).get();
        }
    }

    private Page<ShownToken> shown(String user) {
        return new Page<>(
                tokens.of(user).stream()
                        .map(token -> ShownToken.of(token, null))
                        .toList(),
                null);
    }
}
