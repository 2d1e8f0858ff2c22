package dozo.api;

import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.github.therapi.runtimejavadoc.CommentFormatter;
import com.github.therapi.runtimejavadoc.RuntimeJavadoc;
import dozo.api.http.Demanded;
import dozo.api.http.Edited;
import dozo.api.http.Idempotency;
import dozo.api.http.IfMatch;
import dozo.api.http.Page;
import dozo.api.http.Sheet;
import dozo.api.http.Verb;
import dozo.api.http.Verb.Follow;
import dozo.file.Problem;
import dozo.ledger.Dimension;
import dozo.ledger.Sight;
import dozo.people.Permissions;
import dozo.people.Permissions.Endpoint;
import dozo.people.Permissions.Line;
import dozo.people.Permissions.Token;
import dozo.people.Users.User;
import dozo.plan.Forecast;
import dozo.registry.BulkRegistration.Mode;
import dozo.registry.ExperimentSearch.State;
import dozo.search.Hit.Kind;
import dozo.security.Caller;
import dozo.worklist.GapKind;
import io.swagger.v3.core.converter.AnnotatedType;
import io.swagger.v3.core.converter.ModelConverter;
import io.swagger.v3.core.converter.ModelConverterContext;
import io.swagger.v3.core.util.AnnotationsUtils;
import io.swagger.v3.oas.models.Components;
import io.swagger.v3.oas.models.OpenAPI;
import io.swagger.v3.oas.models.Operation;
import io.swagger.v3.oas.models.PathItem;
import io.swagger.v3.oas.models.headers.Header;
import io.swagger.v3.oas.models.info.Info;
import io.swagger.v3.oas.models.media.ArraySchema;
import io.swagger.v3.oas.models.media.Content;
import io.swagger.v3.oas.models.media.IntegerSchema;
import io.swagger.v3.oas.models.media.ObjectSchema;
import io.swagger.v3.oas.models.media.Schema;
import io.swagger.v3.oas.models.media.StringSchema;
import io.swagger.v3.oas.models.parameters.Parameter;
import io.swagger.v3.oas.models.parameters.RequestBody;
import io.swagger.v3.oas.models.responses.ApiResponse;
import io.swagger.v3.oas.models.responses.ApiResponses;
import io.swagger.v3.oas.models.security.SecurityRequirement;
import io.swagger.v3.oas.models.security.SecurityScheme;
import io.swagger.v3.oas.models.servers.Server;
import jakarta.servlet.http.HttpServletResponse;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springdoc.core.customizers.GlobalOpenApiCustomizer;
import org.springdoc.core.utils.SpringDocUtils;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.MethodParameter;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;
import tools.jackson.databind.JsonNode;

/**
 * Completes the OpenAPI description, {@code openapi.json}, with what springdoc cannot read from the handlers:
 * what applies to all of REST, taken from the table of permissions, the handlers and the records. A new endpoint needs
 * nothing here.
 */
@Configuration
@ConditionalOnProperty("springdoc.api-docs.enabled")
class Description {

    static {
        SpringDocUtils.getConfig()
                .addRequestWrapperToIgnore(IfMatch.class, Sheet.class, Sight.class, User.class, Caller.class);
    }

    private static final String PREFIX = "/api/v1/";
    private static final String PROBLEM = "#/components/schemas/Problem";

    /** What a status means, wherever it is answered. */
    private static final Map<String, String> ERRORS = new TreeMap<>(table("""
            400  invalid JSON, an unknown field, or a fraction instead of an integer; or the address, a header, the query or \
            the body cannot be read
            401  name or password are missing or wrong; or the token is unknown, expired or revoked
            403  no permission: `detail` names the required roles. The role is checked before the content type and the body
            404  does not exist, or belongs to another project
            405  method not supported: `Allow` lists the supported ones, `OPTIONS` returns them
            406  none of the types in `Accept` is available
            409  conflict with the current state
            412  the resource has changed since you read it (ETag mismatch)
            413  the body is too long: JSON may have at most 1 MiB
            415  the body's media type is not supported
            421  the `Host` header names no host of `DOZO_HTTP_HOSTS`; only `/actuator/health` answers under any host
            422  invalid value or unknown parameter: `errors` lists the fields and what was expected
            429  too many failed logins
            500  internal error; see the service's log
            502  the site failed: `reason` is `UNREACHABLE`, `HOST_KEY`, `LOGIN_REFUSED`, `NO_SFTP`, `LOST`, …; or the worklist \
            cannot be read
            503  the database or the user directory does not answer (the database within 2 s, whatever name, password or token \
            the request has); or 200 requests are already waiting while a run is in progress
            """));

    /** Parameters by name; what is not here is described by its handler. */
    private static final Map<String, String> PARAMETERS = table("""
            acquiredFrom    acquired on this day or later, such as 2026-10-01
            acquiredUntil   acquired on this day or earlier, such as 2026-10-01
            action          only rows with this action, such as project.created
            all             true: every booking, even without a gap
            after           the `next` of the previous page; default: the first page
            asOf            the state at this time: a day such as 2026-10-01 (its end), or a time such as 2026-10-01T15:00:00Z; \
            default: now
            by              the groups of the sums
            code            the experiment's code
            dismissed       true: only dismissed items; false: only others; default: all
            dryRun          true: validates and returns the result, without storing anything
            experiment      PROJECT/EXPERIMENT; - means findings of whole runs
            from            from this time: a day such as 2026-10-01 (its start), or a time such as 2026-10-01T15:00:00Z
            frozen          true: only frozen ones
            id              the number
            instances       the number of instances on the console that would delete the study
            kind            only gaps of this kind, such as never-scanned
            lanes           the numbers of lanes to calculate with, separated by commas or repeated; default: 4, 8 and 16
            limit           the maximum number of items
            link            the capacity of the network in bytes a second; default: unlimited
            maxAgeSeconds   the age to promise, in seconds; default: the setting
            modality        only of this modality
            mode            all: registers every line or none; each: every valid line
            name            the name
            number          the manifest's number
            missing         true: only what is missing; false: only remarks; default: both
            open            true: only those that need a person; false: only others; default: all
            origin          only of this origin
            partitions      the number of partitions to calculate with; default: that of lanes
            path            the file's path below the source, as text
            pathBytes       the same in base64, instead of `path`
            plannedFrom     planned (or scanned, if unplanned) on this day or later, such as 2026-10-01
            plannedUntil    the same, on this day or earlier
            project         the project's code
            proposed        true: neither an experiment nor dismissed; false: only others; default: all
            q               words to find in codes, titles and projects
            rate            bytes a second of reading or of a lane; default: as measured
            reason          only with this reason
            run             only those that this run found
            scanner         the scanner's code
            secondsPerFile  the additional reading time per file; default: as measured
            site            the site's name; optional if there is only one
            source          the folder's absolute path on the service's machine, as text
            sourceBytes     the same in base64, instead of `source`
            state           only in this state at the site
            storedBytes     bytes to calculate with, instead of the stored amount
            storedFiles     files to calculate with, instead of the stored number
            studyInstanceUid the StudyInstanceUID, as in the images
            subject         only rows of this subject; P1/E1 also finds those of its manifests (P1/E1#3)
            suggest         true: fills empty cells from the content of the folders: at most 1,000 folders, for one minute
            until           before this time: a day such as 2026-10-01 (its end), or a time such as 2026-10-01T15:00:00Z
            window          the daily reading window, such as 20:00-06:00; default: the setting
            """);

    private static Map<String, String> table(String lines) {
        return lines.lines()
                .map(line -> line.split(" +", 2))
                .collect(Collectors.toMap(words -> words[0], words -> words[1]));
    }

    /** Formats of parameters by name. */
    private static final Map<String, Consumer<Schema<?>>> FORMS = Map.ofEntries(
            Map.entry("kind", words(Arrays.stream(GapKind.values()).map(GapKind::word))),
            Map.entry("SearchApi.kind", words(Arrays.stream(Kind.values()).map(Kind::word))),
            Map.entry("by", words(Arrays.stream(Dimension.values()).map(Dimension::word))),
            Map.entry("reason", words(Arrays.stream(Problem.values()).map(Problem::name))),
            Map.entry("mode", words(Arrays.stream(Mode.values()).map(Mode::word))),
            Map.entry("state", words(Arrays.stream(State.values()).map(State::word))),
            Map.entry("format", words(Stream.of("csv"))),
            Map.entry("bom", words(Stream.of("true", "false"))),
            Map.entry("pathBytes", schema -> schema.format("byte")),
            Map.entry("sourceBytes", schema -> schema.format("byte")),
            Map.entry(
                    "partitions",
                    schema -> schema.minimum(BigDecimal.ONE).maximum(BigDecimal.valueOf(Forecast.LANES_MAX))),
            Map.entry("link", schema -> schema.minimum(BigDecimal.ONE)));

    private static Consumer<Schema<?>> words(Stream<String> accepted) {
        List<String> words = accepted.toList();
        return schema -> setWords(schema, words);
    }

    @SuppressWarnings("unchecked") // a schema of texts
    private static void setWords(Schema<?> schema, List<String> words) {
        ((Schema<String>) schema).setEnum(words);
        // NB: springdoc shows a default value by the name of its constant.
        words.stream()
                .filter(word -> word.equalsIgnoreCase(String.valueOf(schema.getDefault())))
                .forEach(schema::setDefault);
    }

    @Bean
    GlobalOpenApiCustomizer whole(RequestMappingHandlerMapping requestMappingHandlerMapping) {
        return api -> complete(api, handlers(requestMappingHandlerMapping));
    }

    /** Marks components of records that may not be null as required. */
    @Bean
    ModelConverter exact() {
        return new Exact();
    }

    private static Map<Endpoint, HandlerMethod> handlers(RequestMappingHandlerMapping mappings) {
        return mappings.getHandlerMethods().entrySet().stream()
                .flatMap(mapped -> endpoints(mapped.getKey()).map(at -> Map.entry(at, mapped.getValue())))
                .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue, (one, other) -> one));
    }

    private static Stream<Endpoint> endpoints(RequestMappingInfo info) {
        return info.getPatternValues().stream()
                .flatMap(path -> info.getMethodsCondition().getMethods().stream()
                        .map(method -> new Endpoint(method.name(), path)));
    }

    private static void complete(OpenAPI api, Map<Endpoint, HandlerMethod> handlers) {
        api.info(
                new Info().title("Dozo").version("1").description("Backs up experiments to a DR site, and proves it."));
        api.servers(List.of(new Server().url("/").description("This service")));
        api.addSecurityItem(new SecurityRequirement().addList("basic"));
        api.addSecurityItem(new SecurityRequirement().addList("bearer"));
        Components components = api.getComponents() == null ? new Components() : api.getComponents();
        api.components(components);
        components.addSecuritySchemes(
                "basic", new SecurityScheme().type(SecurityScheme.Type.HTTP).scheme("basic"));
        components.addSecuritySchemes(
                "bearer",
                new SecurityScheme()
                        .type(SecurityScheme.Type.HTTP)
                        .scheme("bearer")
                        .bearerFormat("dozo_…")
                        .description("a token of POST /api/v1/me/tokens"));
        if (components.getSchemas() != null) {
            components.getSchemas().values().forEach(Description::asText);
        }
        // It does not describe itself.
        api.getPaths().remove(PREFIX + "openapi");
        components.addSchemas("Problem", problem());
        ERRORS.forEach((status, meaning) -> components.addResponses(status, error(status, meaning)));
        api.getPaths()
                .forEach((path, item) -> item.readOperationsMap().forEach((method, operation) -> {
                    HandlerMethod handler = handlers.get(new Endpoint(method.name(), path));
                    if (handler != null) {
                        complete(path, method, operation, handler);
                    }
                }));
        api.addExtension("x-commands", groups(handlers));
    }

    /** The groups of commands, with what each is about. */
    private static Map<String, Map<String, String>> groups(Map<Endpoint, HandlerMethod> handlers) {
        Map<String, Map<String, String>> groups = new TreeMap<>();
        handlers.values().forEach(handler -> {
            Verb.Group group = handler.getBeanType().getAnnotation(Verb.Group.class);
            if (group != null) {
                groups.put(group.name(), new TreeMap<>(Map.of("about", group.about(), "section", group.section())));
            }
        });
        return groups;
    }

    /** The commands that send a request, for the command line. */
    private static void command(Operation operation, PathItem.HttpMethod method, HandlerMethod handler) {
        List<Map<String, Object>> commands = Arrays.stream(handler.getMethod().getAnnotationsByType(Verb.class))
                .<Map<String, Object>>map(verb -> {
                    Map<String, Object> said = new TreeMap<>(Map.ofEntries(
                            Map.entry("synopsis", verb.value()),
                            Map.entry("about", verb.about()),
                            Map.entry("footer", List.of(verb.footer())),
                            Map.entry("says", List.of(verb.says())),
                            Map.entry("arguments", List.of(verb.arguments())),
                            Map.entry("lines", List.of(verb.lines())),
                            Map.entry("items", verb.items()),
                            Map.entry("columns", List.of(verb.columns())),
                            Map.entry("each", List.of(verb.each())),
                            Map.entry("which", verb.which()),
                            Map.entry("sum", verb.sum()),
                            Map.entry("total", verb.total()),
                            Map.entry("none", verb.none()),
                            Map.entry("lineByLine", verb.lineByLine()),
                            Map.entry("exit", verb.exit()),
                            Map.entry("result", verb.result() || method == PathItem.HttpMethod.GET),
                            Map.entry("follows", verb.follows().name()),
                            Map.entry("examples", List.of(verb.example()))));
                    said.values().removeAll(Set.of("", List.of(), false, Follow.NOTHING.name()));
                    return said;
                })
                .toList();
        if (!commands.isEmpty()) {
            operation.addExtension("x-commands", commands);
        }
    }

    /** Javadoc in Markdown, as OpenAPI has it. */
    private static @Nullable String asText(@Nullable String javadoc) {
        return javadoc == null
                ? null
                : javadoc.replaceAll("</?code>", "`")
                        .replaceAll("\\{@link (?:[^}]*#)?([^}]*)}", "`$1`")
                        .replaceAll("\\s+", " ");
    }

    private static void asText(Schema<?> schema) {
        schema.description(asText(schema.getDescription()));
        if (schema.getProperties() != null) {
            schema.getProperties().values().forEach(Description::asText);
        }
    }

    private static Schema<?> problem() {
        Schema<?> error = new ObjectSchema();
        error.addProperty("field", new StringSchema());
        error.addProperty("message", new StringSchema().description("what is expected"));
        error.setRequired(List.of("field", "message"));
        Schema<?> problem = new ObjectSchema().description("Problem details (RFC 9457)");
        problem.addProperty("type", new StringSchema().format("uri-reference"));
        problem.addProperty("title", new StringSchema());
        problem.addProperty("status", new IntegerSchema().format("int32"));
        problem.addProperty("detail", new StringSchema());
        problem.addProperty("instance", new StringSchema().format("uri-reference"));
        problem.addProperty("errors", new ArraySchema().items(error).description("the fields at fault"));
        problem.addProperty("reason", new StringSchema().description("why a site failed"));
        problem.setRequired(List.of("title", "status", "detail"));
        return problem;
    }

    private static ApiResponse error(String status, String meaning) {
        ApiResponse response = new ApiResponse()
                .description(meaning)
                .content(new Content()
                        .addMediaType(
                                MediaType.APPLICATION_PROBLEM_JSON_VALUE,
                                new io.swagger.v3.oas.models.media.MediaType().schema(new Schema<>().$ref(PROBLEM))));
        if (status.equals("401")) {
            response.addHeaderObject("WWW-Authenticate", header("how to log in"));
        }
        if (status.equals("429")) {
            response.addHeaderObject("Retry-After", seconds("the number of seconds to wait"));
        }
        return response;
    }

    private static void complete(String path, PathItem.HttpMethod method, Operation operation, HandlerMethod handler) {
        String room = path.substring(PREFIX.length()).split("/", -1)[0];
        operation.tags(List.of(room));
        operation.operationId(name(handler));
        operation.summary(summary(asText(operation.getSummary()), handler));
        operation.description(asText(operation.getDescription()));
        Line line = Permissions.of(new Endpoint(method.name(), path)).orElse(null);
        boolean byToken = line != null && line.token() != Token.NONE;
        if (!byToken) {
            operation.security(List.of(new SecurityRequirement().addList("basic")));
        }
        describe(operation, handler);
        if (method == PathItem.HttpMethod.POST && byToken) {
            operation.addParametersItem(new Parameter()
                    .in("header")
                    .name(Idempotency.HEADER)
                    .description("a request with the same key within 24 hours returns the first response and is not"
                            + " executed again")
                    .schema(new StringSchema()
                            .minLength(1)
                            .maxLength(Idempotency.LENGTH_MAX)
                            .pattern("^[!-~]+$")));
        }
        answers(method, operation, handler);
        command(operation, method, handler);
    }

    /** Returns the name of an operation, such as run-list, or download: generated clients have a function or a module of it. */
    private static String name(HandlerMethod handler) {
        String type = dashed(handler.getBeanType().getSimpleName().replaceFirst("Api$", ""));
        String method = dashed(handler.getMethod().getName());
        return method.equals(type) ? type : type + "-" + method;
    }

    private static String dashed(String name) {
        return name.replaceAll("(?<=.)([A-Z])", "-$1").toLowerCase(Locale.ROOT);
    }

    /** Returns the first sentence of a handler's description; if there is none, the handler's name. */
    private static String summary(@Nullable String said, HandlerMethod handler) {
        String text = said == null || said.isBlank()
                ? handler.getMethod().getName().replaceAll("([A-Z])", " $1").toLowerCase(Locale.ROOT)
                : said.replaceAll("[.]$", "");
        return text.substring(0, 1).toUpperCase(Locale.ROOT) + text.substring(1);
    }

    private static void describe(Operation operation, HandlerMethod handler) {
        if (Sheet.isGivenBy(handler.getMethod())) {
            describeSheet(operation);
        }
        if (operation.getParameters() != null) {
            // NB: OpenAPI describes the type of a body elsewhere.
            operation.getParameters().removeIf(parameter -> parameter.getName().equals("Content-Type"));
            operation.getParameters().forEach(parameter -> describe(parameter, handler.getBeanType()));
        }
        if (reads(handler, java.io.InputStream.class)) {
            Content content = new Content();
            for (MediaType type : consumed(handler)) {
                content.addMediaType(
                        type.toString(), new io.swagger.v3.oas.models.media.MediaType().schema(new StringSchema()));
            }
            operation.requestBody(new RequestBody().required(true).content(content));
        }
        if (reads(handler, HttpServletResponse.class)
                || handler.getMethod().getReturnType().equals(byte[].class)) {
            Content content = new Content();
            for (String type : mapping(handler).produces()) {
                content.addMediaType(
                        type,
                        new io.swagger.v3.oas.models.media.MediaType().schema(new StringSchema().format("binary")));
            }
            requireNonNull(operation.getResponses().get("200")).setContent(content);
        }
    }

    private static void describeSheet(Operation operation) {
        new TreeMap<>(Sheet.PARAMETERS)
                .forEach((name, meaning) -> operation.addParametersItem(new Parameter()
                        .in("query")
                        .name(name)
                        .description(meaning)
                        .schema(new StringSchema())));
        ApiResponse response = requireNonNull(operation.getResponses().get("200"));
        // NB: an address that sends only CSV returns nothing else.
        if (response.getContent() == null) {
            response.setContent(new Content());
        }
        response.getContent()
                .put(Sheet.TYPE, new io.swagger.v3.oas.models.media.MediaType().schema(new StringSchema()));
    }

    private static List<MediaType> consumed(HandlerMethod handler) {
        List<MediaType> consumed =
                MediaType.parseMediaTypes(List.of(mapping(handler).consumes()));
        return consumed.isEmpty() ? List.of(MediaType.APPLICATION_OCTET_STREAM) : consumed;
    }

    private static RequestMapping mapping(HandlerMethod handler) {
        return requireNonNull(AnnotatedElementUtils.findMergedAnnotation(handler.getMethod(), RequestMapping.class));
    }

    private static void describe(Parameter parameter, Class<?> resource) {
        if (parameter.getDescription() == null || parameter.getDescription().isBlank()) {
            parameter.description(PARAMETERS.get(parameter.getName()));
        }
        parameter.description(asText(parameter.getDescription()));
        // NB: springdoc gives all parameters of one type the same schema.
        Schema<?> schema = AnnotationsUtils.clone(parameter.getSchema(), true);
        parameter.schema(schema);
        String name = parameter.getName();
        FORMS.getOrDefault(resource.getSimpleName() + "." + name, FORMS.getOrDefault(name, as -> {}))
                .accept(schema);
        if (parameter.getName().equals("limit") && Integer.valueOf(Page.LIMIT).equals(schema.getDefault())) {
            schema.minimum(BigDecimal.ONE).maximum(BigDecimal.valueOf(Page.LIMIT_MAX));
        }
        if (parameter.getIn().equals("path") && "string".equals(type(schema))) {
            // NB: values in other forms match no resource.
            schema.minLength(1);
        }
    }

    private static @Nullable String type(Schema<?> schema) {
        return schema.getTypes() == null || schema.getTypes().isEmpty()
                ? schema.getType()
                : schema.getTypes().iterator().next();
    }

    private static void answers(PathItem.HttpMethod method, Operation operation, HandlerMethod handler) {
        ApiResponses responses = operation.getResponses();
        boolean edited = shows(handler);
        responses.forEach((status, response) -> {
            if (status.equals("201") || status.equals("202")) {
                response.addHeaderObject("Location", header("the address of the created resource"));
            }
            if (edited && status.startsWith("2")) {
                response.addHeaderObject("ETag", header("changes whenever the representation changes"));
            }
            if (method == PathItem.HttpMethod.POST) {
                response.addHeaderObject(Idempotency.REPLAYED, header("true: this is the stored first response"));
            }
        });
        if (edited && method == PathItem.HttpMethod.GET) {
            responses.addApiResponse("304", new ApiResponse().description("not modified: If-None-Match has its ETag"));
            operation.addParametersItem(tags("If-None-Match", "ETags that the client already has"));
        }
        for (String status : errors(method, operation, handler)) {
            responses.addApiResponse(status, new ApiResponse().$ref("#/components/responses/" + status));
        }
    }

    private static Set<String> errors(PathItem.HttpMethod method, Operation operation, HandlerMethod handler) {
        Set<String> errors = new TreeSet<>(Set.of("400", "401", "403", "406", "422", "429", "503"));
        boolean body = operation.getRequestBody() != null;
        boolean named = operation.getParameters() != null
                && operation.getParameters().stream()
                        .anyMatch(parameter -> parameter.getIn().equals("path")
                                || parameter.getName().equals("site"));
        if (named || body) {
            errors.add("404");
        }
        if (body) {
            errors.addAll(Set.of("413", "415"));
        }
        if (method == PathItem.HttpMethod.POST) {
            errors.add("409");
        }
        if (reads(handler, IfMatch.class)) {
            errors.add("412");
            operation.addParametersItem(
                    tags("If-Match", "changes the resource only if its ETag is one of these; default: always"));
        }
        String said = String.valueOf(operation.getDescription());
        ERRORS.keySet().stream().filter(status -> said.contains(status + ":")).forEach(errors::add);
        return errors;
    }

    private static Parameter tags(String name, String description) {
        return new Parameter().in("header").name(name).description(description).schema(new StringSchema());
    }

    private static Header header(String description) {
        return new Header().description(description).schema(new StringSchema());
    }

    private static Header seconds(String description) {
        return new Header().description(description).schema(new IntegerSchema().format("int32"));
    }

    private static boolean reads(HandlerMethod handler, Class<?> type) {
        return Arrays.stream(handler.getMethodParameters())
                .map(MethodParameter::getParameterType)
                .anyMatch(type::equals);
    }

    private static boolean shows(HandlerMethod handler) {
        return Edited.class.isAssignableFrom(handler.getReturnType().getParameterType());
    }

    private static final class Exact implements ModelConverter {

        @Override
        public @Nullable Schema<?> resolve(
                AnnotatedType type, ModelConverterContext context, Iterator<ModelConverter> chain) {
            if (!chain.hasNext()) {
                return null;
            }
            Class<?> raw = raw(type.getType());
            if (raw == JsonNode.class) {
                return new ObjectSchema();
            }
            Schema<?> schema = chain.next().resolve(type, context, chain);
            Schema<?> defined = schema == null || schema.get$ref() == null
                    ? schema
                    : context.getDefinedModels().get(schema.get$ref().substring("#/components/schemas/".length()));
            if (raw != null && raw.isRecord() && defined != null && defined.getProperties() != null) {
                List<String> required = Arrays.stream(raw.getRecordComponents())
                        .filter(component -> !isNullable(component) || component.isAnnotationPresent(Demanded.class))
                        .map(RecordComponent::getName)
                        .filter(defined.getProperties()::containsKey)
                        .toList();
                defined.setRequired(required.isEmpty() ? null : required);
                Arrays.stream(raw.getMethods())
                        .filter(method -> method.isAnnotationPresent(JsonProperty.class))
                        .forEach(method -> completeComputed(defined, method));
            }
            return schema;
        }

        /** Describes a field that is no component: a method of the record computes it. */
        private static void completeComputed(Schema<?> defined, Method method) {
            String said = method.getAnnotation(JsonProperty.class).value();
            String name = said.isEmpty() ? method.getName() : said;
            if (!method.getAnnotatedReturnType().isAnnotationPresent(Nullable.class)) {
                defined.addRequiredItem(name);
            }
            String meaning = new CommentFormatter()
                    .format(RuntimeJavadoc.getJavadoc(method).getComment());
            if (!meaning.isEmpty()) {
                requireNonNull(defined.getProperties().get(name)).description(meaning.replaceAll("^Returns |[.]$", ""));
            }
        }

        private static boolean isNullable(RecordComponent component) {
            return component.getAnnotatedType().isAnnotationPresent(Nullable.class);
        }

        private static @Nullable Class<?> raw(Type type) {
            if (type instanceof com.fasterxml.jackson.databind.JavaType java) {
                return java.getRawClass();
            }
            return type instanceof Class<?> known
                    ? known
                    : type instanceof java.lang.reflect.ParameterizedType generic
                                    && generic.getRawType() instanceof Class<?> known
                            ? known
                            : null;
        }
    }
}
