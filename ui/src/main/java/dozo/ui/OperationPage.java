package dozo.ui;

import static java.util.Objects.requireNonNull;

import dozo.collect.OriginKind;
import dozo.collect.Origins;
import dozo.file.Message;
import dozo.ledger.Sight;
import dozo.people.Role;
import dozo.people.Users;
import dozo.people.Users.User;
import dozo.registry.Projects;
import dozo.registry.Projects.Project;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import dozo.ui.Operation.Field;
import dozo.ui.Operation.Kind;
import dozo.ui.OperationCalls.Sent;
import dozo.ui.PageProblems.NotThere;
import dozo.web.Etag;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.lang.reflect.Method;
import java.net.URI;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.context.MessageSource;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.ResponseEntity;
import org.springframework.stereotype.Controller;
import org.springframework.util.MultiValueMap;
import org.springframework.web.ErrorResponseException;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.ModelAndView;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;
import org.springframework.web.servlet.support.RequestContextUtils;
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

    private final OperationCalls operations;
    private final JsonMapper json;
    private final MessageSource texts;
    private final Projects projects;
    private final Sites sites;
    private final Origins origins;
    private final Users users;

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
            OperationCalls operations,
            JsonMapper json,
            MessageSource texts,
            Projects projects,
            Sites sites,
            Origins origins,
            Users users)
            throws NoSuchMethodException {
        this.operations = operations;
        this.json = json;
        this.texts = texts;
        this.projects = projects;
        this.sites = sites;
        this.origins = origins;
        this.users = users;
        Method show = getClass().getDeclaredMethod("show", HttpServletRequest.class, MultiValueMap.class, Sight.class);
        Method submit = getClass()
                .getDeclaredMethod(
                        "submit",
                        HttpServletRequest.class,
                        HttpServletResponse.class,
                        MultiValueMap.class,
                        Sight.class);
        for (String page : operations.all().keySet()) {
            mappings.registerMapping(mapping(mappings, page, RequestMethod.GET), this, show);
            mappings.registerMapping(mapping(mappings, page, RequestMethod.POST), this, submit);
        }
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
            present = requireNonNull(operations.invoke(request, operation.present(), variables(request)));
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
        Operation operation = operation(request);
        Map<String, String> variables = new HashMap<>(variables(request));
        variables.replaceAll(
                (name, value) -> isAsked(name, value) ? form.value(name).strip() : value);
        Form former = begun(request, Form.EMPTY);
        Sent sent = operations.send(request, operation, variables, form);
        if (!sent.errors().isEmpty()) {
            return shown(request, new Form(form.values(), sent.errors()), sent.status(), sight);
        }
        Words words = words(request, variables);
        if (words.find(".secret") != null && sent.answer() instanceof ResponseEntity<?> answer) {
            return secret(words, form, answer);
        }
        String done = words.find(".done");
        Flash.of(
                        done == null ? texts.getMessage("change.done", null, words.locale()) : done,
                        operation,
                        variables,
                        form,
                        former,
                        sent.answer(),
                        Viewer.of(request),
                        json)
                .leadTo(back(form, sent.answer()), request, response);
        return null;
    }

    /** Shows the secret of the answer, which no other page shows. */
    private ModelAndView secret(Words words, Form form, ResponseEntity<?> answer) {
        JsonNode made = json.valueToTree(answer.getBody());
        return new ModelAndView("secret")
                .addObject("title", words.get(""))
                .addObject("once", words.get(".secret"))
                .addObject("secret", made.path("secret").asString())
                .addObject("place", place(back(form, answer)))
                .addObject("back", back(form, answer));
    }

    /** Returns whether a variable of the path is a field. NB: never the project, which the gate has checked. */
    private static boolean isAsked(String variable, @Nullable String value) {
        return ASKED.equals(value) && !variable.equals("project");
    }

    private Operation operation(HttpServletRequest request) {
        return requireNonNull(operations
                .all()
                .get(String.valueOf(request.getAttribute(HandlerMapping.BEST_MATCHING_PATTERN_ATTRIBUTE))));
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

    private Words words(HttpServletRequest request, Map<String, String> variables) {
        Operation operation = operation(request);
        List<String> values = operation.variables().stream()
                .map(name -> variables.getOrDefault(name, ""))
                .toList();
        return new Words(texts, operation.key(), values, RequestContextUtils.getLocale(request));
    }

    private ModelAndView shown(HttpServletRequest request, Form typed, HttpStatusCode status, Sight sight) {
        Operation operation = operation(request);
        Map<String, String> variables = variables(request);
        Words words = words(request, variables);
        String title = words.find("");
        if (title == null) {
            throw new NotThere("there is no form for this");
        }
        List<Field> asked = Stream.concat(
                        operation.variables().stream()
                                .filter(name -> isAsked(name, variables.get(name)))
                                .map(name -> new Field(name, Kind.TEXT, String.class, true)),
                        operation.asked(typed).stream())
                .toList();
        return page(new ModelAndView("operation", status), request, operation, words, asked, typed, sight)
                .addObject("title", title)
                .addObject("does", words.get(".does").lines().toList())
                .addObject("button", words.find(".yes"));
    }

    /**
     * Shows the form of an operation for several experiments.
     *
     * @param names those that it will be done for
     * @param refused those of them that were refused just now, each with why by field
     * @param done for how many it was done just now
     */
    ModelAndView selected(
            HttpServletRequest request,
            Operation operation,
            Form typed,
            List<String> names,
            Map<String, Map<String, Message>> refused,
            int done,
            HttpStatusCode status,
            Sight sight) {
        Words words = new Words(
                texts, operation.key() + ".several", List.of(names.size()), RequestContextUtils.getLocale(request));
        Words alone = new Words(texts, operation.key(), List.of(), words.locale());
        String does = words.find(".does");
        String button = words.find(".yes");
        List<Field> asked = operation.fields().stream()
                .filter(field -> !Operation.NAMING.contains(field.name()))
                .toList();
        return page(new ModelAndView("selected", status), request, operation, alone, asked, typed, sight)
                .addObject("title", words.get(""))
                .addObject(
                        "does",
                        (does == null ? alone.get(".does") : does).lines().toList())
                .addObject("button", button == null ? alone.find(".yes") : button)
                .addObject("names", names)
                .addObject("refused", refused)
                .addObject("done", done == 0 ? null : done(typed, done, words.locale()));
    }

    /** Leads back to the list, which says once for how many experiments something was done. */
    void lead(HttpServletRequest request, HttpServletResponse response, Form form, int done, Map<String, String> undo)
            throws IOException {
        String said = done(form, done, RequestContextUtils.getLocale(request));
        new Flash(said, undo.isEmpty() ? null : "/experiments/selected", undo)
                .leadTo(back(form, null), request, response);
    }

    /** Returns the words for how many something was done; for most operations the same. */
    private String done(Form form, int done, Locale locale) {
        Object[] count = {done};
        return done == 0
                ? texts.getMessage("selected.none", count, locale)
                : requireNonNull(texts.getMessage(
                        Operation.key(form.value("do")) + ".several.done",
                        count,
                        texts.getMessage("selected.done", count, locale),
                        locale));
    }

    private ModelAndView page(
            ModelAndView page,
            HttpServletRequest request,
            Operation operation,
            Words words,
            List<Field> asked,
            Form typed,
            Sight sight) {
        List<Shown> fields = asked.stream()
                .map(field -> shown(field, words, roles(request, operation), sight))
                .toList();
        Map<String, String> kept = new HashMap<>(typed.values());
        kept.keySet().removeAll(Field.SECRETS);
        List<String> names = fields.stream().map(each -> each.field().name()).toList();
        String back = back(typed, null);
        return page.addObject("destroys", operation.destroys())
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
        if (isArchive(words.key() + key)) {
            origins.page("", KNOWN_MAX).stream()
                    .filter(origin -> origin.terms().kind() == OriginKind.DICOMWEB)
                    .forEach(origin -> accepted.put(origin.name(), origin.name()));
        }
        String hint = words.find(key + ".hint");
        return new Shown(
                field, words.label(field.name()), hint == null ? "" : hint, accepted, known(words.key() + key, sight));
    }

    private static boolean isSite(String key) {
        return Stream.of(".site", ".replications.from", ".replications.to").anyMatch(key::endsWith);
    }

    private static boolean isArchive(String key) {
        return key.endsWith(".archive.origin");
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
    private record Words(MessageSource texts, String key, List<? extends Object> variables, Locale locale) {

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
