package dozo.security;

import com.google.errorprone.annotations.FormatMethod;
import com.google.errorprone.annotations.FormatString;
import dozo.db.ActiveService;
import dozo.db.LostDatabase;
import dozo.file.Message;
import dozo.ledger.Sight;
import dozo.people.Admission;
import dozo.people.Permissions;
import dozo.people.Permissions.Endpoint;
import dozo.people.Permissions.Line;
import dozo.people.Permissions.Reach;
import dozo.people.Permissions.Token;
import dozo.people.Role;
import dozo.people.Users;
import dozo.people.Users.User;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpSession;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatus;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.stereotype.Component;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.mvc.method.RequestMappingInfoHandlerMapping;

/**
 * Checks every request against {@link Permissions} before its handler runs. The check uses the selected handler and not
 * the address, so no spelling of an address can bypass it. Roles, projects and whether the user is still active are
 * looked up every time. The results are stored in the request, each under the name of its type.
 */
@Component
class Gate implements HandlerInterceptor {

    private static final Logger LOG = LoggerFactory.getLogger(Gate.class);

    private static final Duration SESSION_AGE_MAX = Duration.ofHours(12);

    private final Users users;
    private final Confirmations confirmations;
    private final Answers answers;
    private final LoginForm loginForm;
    private final ActiveService active;
    private final InstantSource clock;

    /** Why a request is refused. */
    private record Refused(HttpStatus status, Message detail) {

        @FormatMethod
        static Refused forbidden(@FormatString String format, Object... values) {
            return new Refused(HttpStatus.FORBIDDEN, Message.of(format, values));
        }
    }

    Gate(
            Users users,
            Confirmations confirmations,
            Answers answers,
            LoginForm loginForm,
            ActiveService active,
            InstantSource clock) {
        this.users = users;
        this.confirmations = confirmations;
        this.answers = answers;
        this.loginForm = loginForm;
        this.active = active;
        this.clock = clock;
    }

    @Override
    public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler)
            throws IOException {
        if (!(handler instanceof HandlerMethod)) {
            // A static file, or nothing: the filter chains decide who sees it.
            return true;
        }
        Optional<Caller> caller = caller();
        Optional<User> user;
        try {
            user = caller.flatMap(known -> user(request, known));
        } catch (NotNow later) {
            answers.refuse(request, response, later);
            return false;
        }
        if (user.isEmpty() || isOver(request.getSession(false))) {
            turnAway(request, response, caller.map(Caller::token).orElse(null) != null);
            return false;
        }
        request.setAttribute(User.class.getName(), user.get());
        if (tellsMethods(request, handler)) {
            return true;
        }
        Refused refused = check(request, caller.get(), user.get());
        if (refused != null) {
            answers.refuse(request, response, refused.status(), refused.detail());
            return false;
        }
        if (!active.isHere() && Permissions.needActiveService(endpoint(request))) {
            answers.refuse(request, response, NotNow.standsBy(active.holder()));
            return false;
        }
        request.setAttribute(Caller.class.getName(), caller.get());
        request.setAttribute(Admission.class.getName(), (Admission) () -> again(request));
        return true;
    }

    /**
     * Returns what the user of a running request may see now; empty if the user would no longer be admitted. Call it
     * only from the thread that handles the request. Fails while the database is away, because the answer is unknown
     * then.
     */
    private Optional<Sight> again(HttpServletRequest request) {
        HttpSession session = request.getSession(false);
        Optional<Caller> caller = caller();
        if (session == null || isOver(session) || caller.isEmpty()) {
            return Optional.empty();
        }
        try {
            // Looked up again: the user in the request is as old as the request.
            return users.find(caller.get().userId())
                    .filter(found -> mayStillCome(caller.get(), found))
                    .flatMap(confirmations::current)
                    .filter(user -> check(request, caller.get(), user) == null)
                    .map(user -> (Sight) request.getAttribute(Sight.class.getName()));
        } catch (NotNow | DataAccessException later) {
            if (LostDatabase.isBehind(later)) {
                throw later;
            }
            return Optional.empty();
        }
    }

    /**
     * Returns whether the request only asks for the supported methods. Spring's own handler does nothing but list them.
     */
    private static boolean tellsMethods(HttpServletRequest request, Object handler) {
        return HttpMethod.OPTIONS.matches(request.getMethod())
                && handler instanceof HandlerMethod method
                && method.getBeanType().getEnclosingClass() == RequestMappingInfoHandlerMapping.class;
    }

    private static Optional<Caller> caller() {
        Authentication authentication = SecurityContextHolder.getContext().getAuthentication();
        return authentication != null && authentication.getPrincipal() instanceof Caller caller
                ? Optional.of(caller)
                : Optional.empty();
    }

    private Optional<User> user(HttpServletRequest request, Caller caller) {
        Optional<User> known =
                request.getAttribute(User.class.getName()) instanceof User user && user.id() == caller.userId()
                        ? Optional.of(user)
                        : users.find(caller.userId());
        return known.filter(found -> mayStillCome(caller, found)).flatMap(confirmations::current);
    }

    private static boolean mayStillCome(Caller caller, User user) {
        return user.active() && (caller.token() != null || caller.stamp() == user.stamp());
    }

    private boolean isOver(@Nullable HttpSession session) {
        return session != null
                && Instant.ofEpochMilli(session.getCreationTime())
                        .plus(SESSION_AGE_MAX)
                        .isBefore(clock.instant());
    }

    private void turnAway(HttpServletRequest request, HttpServletResponse response, boolean byToken)
            throws IOException {
        if (Answers.isRest(request)) {
            answers.demandLogin(
                    request,
                    response,
                    byToken && confirmations.awaitsLogin(caller().orElseThrow().userId())
                            ? Message.of(
                                    "the last login of this token's user is too long ago; log in to the pages again")
                            : Message.of("the login has expired"));
        } else {
            loginForm.again(request, response);
        }
    }

    private @Nullable Refused check(HttpServletRequest request, Caller caller, User user) {
        Endpoint endpoint = endpoint(request);
        Optional<Line> line = Permissions.of(endpoint);
        if (line.isEmpty()) {
            LOG.error(
                    "{} {} was refused: it is missing from the table of permissions",
                    endpoint.method(),
                    endpoint.path());
            return Refused.forbidden("nobody is permitted to do this");
        }
        Caller.UsedToken token = caller.token();
        if (token != null && !token.scope().holds(endpoint)) {
            return Refused.forbidden("this token only permits GET /api/v1/studies/{studyInstanceUid}");
        }
        if (token != null && line.get().token() == Token.NONE) {
            return Refused.forbidden("tokens do not permit this; log in with a password");
        }
        if (token != null && token.readOnly() && line.get().token() == Token.WRITE) {
            return Refused.forbidden("this token is read-only");
        }
        Set<Role> roles = user.roles().stream()
                .filter(role -> token == null || token.roles().contains(role))
                .collect(Collectors.toSet());
        Optional<Sight> sight = line.get().sight(roles, user.projects());
        return sight.isPresent()
                ? own(request, sight.get())
                : new Refused(HttpStatus.FORBIDDEN, noRole(line.get(), user, token != null));
    }

    /** Treats another user's project as missing, so that the response does not reveal that it exists. */
    private static @Nullable Refused own(HttpServletRequest request, Sight sight) {
        if (request.getAttribute(HandlerMapping.URI_TEMPLATE_VARIABLES_ATTRIBUTE) instanceof Map<?, ?> variables
                && variables.get("project") instanceof String project
                && !sight.sees(project)) {
            return new Refused(
                    HttpStatus.NOT_FOUND, Message.of("project \"%s\" does not exist or is not one of yours", project));
        }
        request.setAttribute(Sight.class.getName(), sight);
        return null;
    }

    private static Message noRole(Line line, User user, boolean byToken) {
        if (user.roles().isEmpty()) {
            return user.origin() == Users.Realm.LOCAL
                    ? Message.of("you have no role yet; ask an administrator")
                    : Message.of("none of your groups has a role here; ask an administrator");
        }
        String roles = line.reaches().entrySet().stream()
                .filter(each -> each.getValue() != Reach.NONE)
                .map(Map.Entry::getKey)
                .sorted()
                .map(Role::name)
                .collect(Collectors.joining(", "));
        return byToken
                ? Message.of("both you and the token need one of the roles %s", roles)
                : Message.of("this requires one of the roles %s", roles);
    }

    private static Endpoint endpoint(HttpServletRequest request) {
        String method = request.getMethod().equals("HEAD") ? "GET" : request.getMethod();
        return new Endpoint(
                method, String.valueOf(request.getAttribute(HandlerMapping.BEST_MATCHING_PATTERN_ATTRIBUTE)));
    }
}
