package dozo.ui;

import static java.util.Objects.requireNonNull;

import dozo.file.Message;
import dozo.people.Permissions.Endpoint;
import dozo.registry.Refusal;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.time.ZoneId;
import java.util.Collections;
import java.util.Enumeration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.core.MethodParameter;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.stereotype.Component;
import org.springframework.validation.BindException;
import org.springframework.validation.FieldError;
import org.springframework.validation.ObjectError;
import org.springframework.validation.annotation.ValidationAnnotationUtils;
import org.springframework.web.ErrorResponse;
import org.springframework.web.bind.WebDataBinder;
import org.springframework.web.context.request.ServletWebRequest;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.method.support.HandlerMethodArgumentResolverComposite;
import org.springframework.web.method.support.InvocableHandlerMethod;
import org.springframework.web.method.support.ModelAndViewContainer;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerAdapter;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;
import org.springframework.web.servlet.mvc.method.annotation.ServletRequestDataBinderFactory;
import tools.jackson.databind.DatabindException;
import tools.jackson.databind.json.JsonMapper;

/** The operations of REST that change something, by the paths of their forms, and how pages call them: as REST does. */
@Component
final class OperationCalls {

    private final Map<String, Operation> operations = new HashMap<>();
    private final RequestMappingHandlerAdapter adapter;
    private final JsonMapper json;
    private final ZoneId zone;

    /**
     * What came of a call.
     *
     * @param answer null: nothing, or it was refused
     * @param errors why it was refused, by field; without a field under the empty name. Empty: it was done
     */
    record Sent(@Nullable Object answer, Map<String, Message> errors, HttpStatusCode status) {}

    OperationCalls(
            @Qualifier("requestMappingHandlerMapping") RequestMappingHandlerMapping mappings,
            RequestMappingHandlerAdapter adapter,
            JsonMapper json,
            ZoneId zone) {
        this.adapter = adapter;
        this.json = json;
        this.zone = zone;
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
            }
        });
    }

    /** Returns all operations by the patterns of their forms' paths. */
    Map<String, Operation> all() {
        return operations;
    }

    /** Calls an operation with the typed values, as REST calls it. */
    Sent send(HttpServletRequest request, Operation operation, Map<String, String> variables, Form form)
            throws Exception {
        Map<String, Message> errors = new LinkedHashMap<>();
        HttpStatusCode status = HttpStatus.UNPROCESSABLE_CONTENT;
        try {
            return new Sent(call(request, operation, variables, form, errors), errors, status);
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
        return new Sent(null, errors, status);
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

    /** @param errors gets those of the fields that cannot be read; then the operation is not called */
    private @Nullable Object call(
            HttpServletRequest request,
            Operation operation,
            Map<String, String> variables,
            Form form,
            Map<String, Message> errors)
            throws Exception {
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

    /** Calls a method of REST as REST calls it. */
    @Nullable
    Object invoke(HttpServletRequest request, HandlerMethod handler, Map<String, String> variables, Object... given)
            throws Exception {
        InvocableHandlerMethod method = new InvocableHandlerMethod(handler.createWithResolvedBean());
        method.setDataBinderFactory(binders());
        method.setHandlerMethodArgumentResolvers(new HandlerMethodArgumentResolverComposite()
                .addResolvers(requireNonNull(adapter.getArgumentResolvers())));
        Object path = request.getAttribute(HandlerMapping.URI_TEMPLATE_VARIABLES_ATTRIBUTE);
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
}
