package dozo.ui;

import static java.util.Objects.requireNonNull;

import dozo.file.Message;
import dozo.ledger.Sight;
import dozo.people.Permissions.Endpoint;
import dozo.people.Role;
import dozo.people.Users;
import dozo.people.Users.User;
import dozo.registry.Projects;
import dozo.registry.Projects.Project;
import dozo.registry.Refusal;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import dozo.ui.Operation.Field;
import dozo.ui.Operation.Kind;
import dozo.ui.PageProblems.NotThere;
import dozo.web.Etag;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.lang.reflect.Method;
import java.net.URI;
import java.time.ZoneId;
import java.util.Collection;
import java.util.Collections;
import java.util.Enumeration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.context.MessageSource;
import org.springframework.core.MethodParameter;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.ResponseEntity;
import org.springframework.stereotype.Controller;
import org.springframework.util.MultiValueMap;
import org.springframework.validation.BindException;
import org.springframework.validation.FieldError;
import org.springframework.validation.ObjectError;
import org.springframework.validation.annotation.ValidationAnnotationUtils;
import org.springframework.web.ErrorResponse;
import org.springframework.web.ErrorResponseException;
import org.springframework.web.bind.WebDataBinder;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.context.request.ServletWebRequest;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.method.support.HandlerMethodArgumentResolverComposite;
import org.springframework.web.method.support.InvocableHandlerMethod;
import org.springframework.web.method.support.ModelAndViewContainer;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.ModelAndView;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerAdapter;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;
import org.springframework.web.servlet.mvc.method.annotation.ServletRequestDataBinderFactory;
import org.springframework.web.servlet.support.RequestContextUtils;
import tools.jackson.databind.DatabindException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A form for each operation of REST that changes something: {@code /do/put/projects/{project}/priority} for {@code PUT
 * /api/v1/projects/{project}/priority}. The operation declares the fields, and is called as REST calls it. A page that
 * links to a form gives values for fields by query parameters, and by {@code back} the page to return to; a
 * {@code *} at its end is the number or name of what was created. The texts begin with {@link Operation#key}: the title,
 * {@code does}, {@code yes} for the button, and each field by its name, with a {@code hint} and the {@code words} that
 * it accepts; a field without a text has the word for its name. With {@code secret}, the secret in the answer is shown
 * once. An operation without a title has no form.
 */
@Controller
class OperationPage {

    /** As a variable of the path: it is a field of the form. */
    private static final String ASKED = "*";

    private static final int KNOWN_MAX = 500;

    private final Map<String, Operation> operations = new HashMap<>();
    private final RequestMappingHandlerAdapter adapter;
    private final JsonMapper json;
    private final MessageSource texts;
    private final Projects projects;
    private final Sites sites;
    private final Users users;
    private final ZoneId zone;

    /**
     * A field with its texts.
     *
     * @param words the accepted values with their texts; empty: any
     * @param known suggestions; null: none
     */
    record Shown(
            Field field,
            String label,
            String hint,
            Map<String, String> words,
            @Nullable List<String> known) {}

    OperationPage(
            @Qualifier("requestMappingHandlerMapping") RequestMappingHandlerMapping mappings,
            RequestMappingHandlerAdapter adapter,
            JsonMapper json,
            MessageSource texts,
            Projects projects,
            Sites sites,
            Users users,
            ZoneId zone)
            throws NoSuchMethodException {
        this.adapter = adapter;
        this.json = json;
        this.texts = texts;
        this.projects = projects;
        this.sites = sites;
        this.users = users;
        this.zone = zone;
        Method show = getClass().getDeclaredMethod("show", HttpServletRequest.class, MultiValueMap.class, Sight.class);
        Method submit = getClass()
                .getDeclaredMethod(
                        "submit",
                        HttpServletRequest.class,
                        HttpServletResponse.class,
                        MultiValueMap.class,
                        Sight.class);
        Map<Endpoint, HandlerMethod> all = new HashMap<>();
        mappings.getHandlerMethods()
                .forEach((mapping, handler) -> mapping.getMethodsCondition()
                        .getMethods()
                        .forEach(method -> mapping.getPatternValues()
                                .forEach(path -> all.put(new Endpoint(method.name(), path), handler))));
        all.forEach((endpoint, handler) -> {
            String page = endpoint.form();
            if (page != null) {
                HandlerMethod present =
                        endpoint.method().equals("PATCH") ? all.get(new Endpoint("GET", endpoint.path())) : null;
                operations.put(page, Operation.of(handler, present, page));
                mappings.registerMapping(mapping(mappings, page, RequestMethod.GET), this, show);
                mappings.registerMapping(mapping(mappings, page, RequestMethod.POST), this, submit);
            }
        });
    }

    private static RequestMappingInfo mapping(
            RequestMappingHandlerMapping mappings, String page, RequestMethod method) {
        return RequestMappingInfo.paths(page)
                .methods(method)
                .options(mappings.getBuilderConfiguration())
                .build();
    }

    ModelAndView show(HttpServletRequest request, @RequestParam MultiValueMap<String, String> typed, Sight sight)
            throws Exception {
        return shown(request, begun(request, Form.of(typed)), HttpStatus.OK, sight);
    }

    /** Returns the form of a correction with the present values, except where a link proposes others. */
    private Form begun(HttpServletRequest request, Form typed) throws Exception {
        Operation operation = operation(request);
        if (operation.present() == null) {
            return typed;
        }
        Object present;
        try {
            present = requireNonNull(invoke(request, operation.present(), variables(request)));
        } catch (ErrorResponseException missing) {
            throw new NotThere("what this form changes does not exist");
        }
        JsonNode fields = json.valueToTree(present);
        Map<String, String> values = new HashMap<>(typed.values());
        for (Field field : operation.fields()) {
            JsonNode value = fields.path(field.name());
            values.putIfAbsent(
                    field.name(),
                    value.isArray()
                            ? value.valueStream().map(JsonNode::asString).collect(Collectors.joining("\n"))
                            : value.asString(""));
        }
        values.put(Operation.SEEN, Etag.of(json, present));
        return new Form(values, typed.errors());
    }

    /** Calls the operation. Without the confirmation of the form's button, only shows the form. */
    @Nullable
    ModelAndView submit(
            HttpServletRequest request,
            HttpServletResponse response,
            @RequestParam MultiValueMap<String, String> typed,
            Sight sight)
            throws Exception {
        Form form = Form.of(typed);
        if (form.value("confirmed").isEmpty()) {
            return shown(request, begun(request, form), HttpStatus.OK, sight);
        }
        Map<String, Message> errors = new LinkedHashMap<>();
        HttpStatusCode status = HttpStatus.UNPROCESSABLE_CONTENT;
        try {
            Object done = call(request, form, errors);
            if (errors.isEmpty()) {
                return done(request, response, form, done);
            }
        } catch (Refusal refused) {
            errors.putAll(Form.refused(form.values(), refused).errors());
            status = refused.isConflict() ? HttpStatus.CONFLICT : status;
        } catch (BindException invalid) {
            for (ObjectError error : invalid.getAllErrors()) {
                // An error of a list's element is one of the list.
                String field = error instanceof FieldError of ? of.getField().replaceFirst("\\[.*", "") : "";
                errors.putIfAbsent(field, text(error.getDefaultMessage()));
            }
        } catch (DatabindException unreadable) {
            String field = unreadable.getPath().isEmpty()
                    ? null
                    : unreadable.getPath().getFirst().getPropertyName();
            errors.put(Objects.requireNonNullElse(field, ""), Message.of("has the wrong format"));
        } catch (Exception failure) {
            if (!(failure instanceof ErrorResponse problem)) {
                throw failure;
            }
            status = problem.getStatusCode();
            errors.put(
                    "",
                    status.isSameCodeAs(HttpStatus.PRECONDITION_FAILED)
                            ? Message.of("it has been changed since you opened this form; open the form again")
                            : said(problem));
        }
        return shown(request, new Form(form.values(), errors), status, sight);
    }

    /** Leads back; or shows the secret of the answer, which no other page shows. */
    private @Nullable ModelAndView done(
            HttpServletRequest request, HttpServletResponse response, Form form, @Nullable Object done)
            throws IOException {
        Words words = words(request);
        String once = words.find(".secret");
        if (once == null || !(done instanceof ResponseEntity<?> answer)) {
            response.sendRedirect(back(form, done));
            return null;
        }
        JsonNode made = json.valueToTree(answer.getBody());
        return new ModelAndView("secret")
                .addObject("title", words.get(""))
                .addObject("once", once)
                .addObject("secret", made.path("secret").asString())
                .addObject("place", place(back(form, done)))
                .addObject("back", back(form, done));
    }

    /** Returns what a refused request says, with a translation if the refusal is a message. */
    private static Message said(ErrorResponse problem) {
        Object[] values = problem.getDetailMessageArguments();
        return values != null && values.length == 1 && values[0] instanceof Message message
                ? message
                : text(problem.getBody().getDetail());
    }

    /** Returns a text as a message, which has a translation if the table has it. */
    private static Message text(@Nullable String english) {
        return new Message(String.valueOf(english).replace("%", "%%"), List.of());
    }

    /**
     * Returns what the operation returns.
     *
     * @param errors gets those of the fields that cannot be read; then the operation is not called
     */
    private @Nullable Object call(HttpServletRequest request, Form form, Map<String, Message> errors) throws Exception {
        Operation operation = operation(request);
        Map<String, String> variables = new HashMap<>(variables(request));
        variables.replaceAll(
                (name, value) -> isAsked(name, value) ? form.value(name).strip() : value);
        variables.forEach((name, value) -> {
            if (value.isEmpty()) {
                errors.put(name, Message.of("a value is required"));
            }
        });
        Map<String, Object> values = operation.read(form, zone, errors);
        if (!errors.isEmpty()) {
            return null;
        }
        MethodParameter body = operation.body();
        Object[] given = body == null ? new Object[0] : new Object[] {validated(request, body, values)};
        String seen = form.value(Operation.SEEN);
        return invoke(seen.isEmpty() ? request : new IfMatch(request, seen), operation.handler(), variables, given);
    }

    private ServletRequestDataBinderFactory binders() {
        return new ServletRequestDataBinderFactory(List.of(), adapter.getWebBindingInitializer());
    }

    /** Calls an operation of REST as REST calls it. */
    private @Nullable Object invoke(
            HttpServletRequest request, HandlerMethod handler, Map<String, String> variables, Object... given)
            throws Exception {
        InvocableHandlerMethod method = new InvocableHandlerMethod(handler.createWithResolvedBean());
        method.setDataBinderFactory(binders());
        method.setHandlerMethodArgumentResolvers(new HandlerMethodArgumentResolverComposite()
                .addResolvers(requireNonNull(adapter.getArgumentResolvers())));
        Map<String, String> path = variables(request);
        request.setAttribute(HandlerMapping.URI_TEMPLATE_VARIABLES_ATTRIBUTE, variables);
        try {
            return method.invokeForRequest(new ServletWebRequest(request), new ModelAndViewContainer(), given);
        } finally {
            request.setAttribute(HandlerMapping.URI_TEMPLATE_VARIABLES_ATTRIBUTE, path);
        }
    }

    /** A request with the ETag of what its form showed. */
    private static final class IfMatch extends HttpServletRequestWrapper {

        private final String tag;

        IfMatch(HttpServletRequest request, String tag) {
            super(request);
            this.tag = tag;
        }

        @Override
        public Enumeration<String> getHeaders(String name) {
            return name.equalsIgnoreCase(HttpHeaders.IF_MATCH)
                    ? Collections.enumeration(List.of(tag))
                    : super.getHeaders(name);
        }
    }

    /** Returns whether a variable of the path is a field. NB: never the project, which the gate has checked. */
    private static boolean isAsked(String variable, @Nullable String value) {
        return ASKED.equals(value) && !variable.equals("project");
    }

    /** Returns the body, validated if the operation declares that. */
    private Object validated(HttpServletRequest request, MethodParameter body, Map<String, Object> values)
            throws Exception {
        Object read = json.convertValue(values, body.getParameterType());
        WebDataBinder binder = binders().createBinder(new ServletWebRequest(request), read, "body");
        for (var annotation : body.getParameterAnnotations()) {
            Object[] hints = ValidationAnnotationUtils.determineValidationHints(annotation);
            if (hints != null) {
                binder.validate(hints);
            }
        }
        if (binder.getBindingResult().hasErrors()) {
            throw new BindException(binder.getBindingResult());
        }
        return read;
    }

    private Operation operation(HttpServletRequest request) {
        return requireNonNull(
                operations.get(String.valueOf(request.getAttribute(HandlerMapping.BEST_MATCHING_PATTERN_ATTRIBUTE))));
    }

    @SuppressWarnings("unchecked")
    private static Map<String, String> variables(HttpServletRequest request) {
        return (Map<String, String>)
                requireNonNull(request.getAttribute(HandlerMapping.URI_TEMPLATE_VARIABLES_ATTRIBUTE));
    }

    /** Returns the page to return to. It is on this site; browsers ignore control characters and accept backslashes. */
    private static String back(Form typed, @Nullable Object done) {
        String back = typed.value("back");
        URI location =
                done instanceof ResponseEntity<?> answer ? answer.getHeaders().getLocation() : null;
        String created = location == null ? "" : location.getRawPath().replaceFirst(".*/", "");
        if (!back.matches("/(?![/\\\\])[^\\\\\\p{Cntrl}]*")) {
            return "/";
        }
        return back.endsWith("/*") ? back.substring(0, back.length() - 1) + created : back;
    }

    /** Returns the page of the menu to which an address belongs. */
    private static String place(String address) {
        return address.replaceFirst("(/[^/?#]*).*", "$1");
    }

    private Words words(HttpServletRequest request) {
        Operation operation = operation(request);
        Map<String, String> variables = variables(request);
        List<String> values = operation.variables().stream()
                .map(name -> variables.getOrDefault(name, ""))
                .toList();
        return new Words(texts, operation.key(), values, RequestContextUtils.getLocale(request));
    }

    private ModelAndView shown(HttpServletRequest request, Form typed, HttpStatusCode status, Sight sight) {
        Operation operation = operation(request);
        Map<String, String> variables = variables(request);
        Words words = words(request);
        String title = words.find("");
        if (title == null) {
            throw new NotThere("there is no form for this");
        }
        List<Shown> fields = Stream.concat(
                        operation.variables().stream()
                                .filter(name -> isAsked(name, variables.get(name)))
                                .map(name -> new Field(name, Kind.TEXT, String.class, true)),
                        operation.asked(typed).stream())
                .map(field -> shown(field, words, roles(request, operation), sight))
                .toList();
        Map<String, String> kept = new HashMap<>(typed.values());
        kept.keySet().removeAll(Field.SECRETS);
        List<String> names = fields.stream().map(each -> each.field().name()).toList();
        String back = back(typed, null);
        return new ModelAndView("operation", status)
                .addObject("title", title)
                .addObject("does", words.get(".does").lines().toList())
                .addObject("button", words.find(".yes"))
                .addObject("fields", fields)
                .addObject("form", new Form(kept, typed.errors()))
                .addObject(
                        "others",
                        typed.errors().entrySet().stream()
                                .filter(each -> !names.contains(each.getKey()))
                                .map(Map.Entry::getValue)
                                .toList())
                .addObject("back", typed.value("back"))
                .addObject("place", place(back))
                .addObject("cancel", back.replaceFirst("(?<=.)/$", ""));
    }

    /** Returns the roles to choose from: of one's own token, one's own. */
    private static Collection<Role> roles(HttpServletRequest request, Operation operation) {
        User viewer = Viewer.of(request).user();
        return viewer != null && operation.key().startsWith("do.post.me.") ? viewer.roles() : List.of(Role.values());
    }

    private Shown shown(Field field, Words words, Collection<Role> roles, Sight sight) {
        String key = "." + field.name();
        Map<String, String> accepted = new LinkedHashMap<>();
        String listed = words.find(key + ".words");
        for (String word : listed == null ? new String[0] : listed.split(" ", -1)) {
            accepted.put(word, words.get(key + "." + word));
        }
        if (field.name().equals("roles")) {
            roles.forEach(role -> accepted.put(role.name(), words.of("role", role)));
        }
        if (isSite(words.key() + key)) {
            sites.all().stream().map(Site::name).forEach(name -> accepted.put(name, name));
        }
        String hint = words.find(key + ".hint");
        return new Shown(
                field, words.label(field.name()), hint == null ? "" : hint, accepted, known(words.key() + key, sight));
    }

    private static boolean isSite(String key) {
        return Stream.of(".site", ".replications.from", ".replications.to").anyMatch(key::endsWith);
    }

    private @Nullable List<String> known(String key, Sight sight) {
        if (key.endsWith(".members.name.name")) {
            return users.page("", KNOWN_MAX).stream().map(User::name).toList();
        }
        return key.endsWith(".project")
                ? projects.page(sight, "", KNOWN_MAX).stream()
                        .map(Project::code)
                        .toList()
                : null;
    }

    /**
     * The texts of a form.
     *
     * @param variables the values of {@code {0}} and so on
     */
    private record Words(MessageSource texts, String key, List<String> variables, Locale locale) {

        @Nullable
        String find(String end) {
            return texts.getMessage(key + end, variables.toArray(), null, locale);
        }

        /** Returns the label of a field; without a text of its own, the word for its name. */
        String label(String field) {
            String own = find("." + field);
            return own == null ? texts.getMessage(field, null, locale) : own;
        }

        /** Returns the name of a value, and what it means. */
        String of(String kind, Enum<?> value) {
            String name = kind + "." + value;
            return texts.getMessage(name, null, locale) + ": " + texts.getMessage(name + ".may", null, locale);
        }

        String get(String end) {
            return texts.getMessage(key + end, variables.toArray(), locale);
        }
    }
}
