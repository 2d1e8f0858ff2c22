package dozo.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import dozo.PythonTools;
import dozo.RunningService;
import dozo.api.http.Page;
import dozo.db.TestDatabase;
import dozo.people.Permissions;
import dozo.people.Permissions.Endpoint;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Map.Entry;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.core.io.ClassPathResource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The OpenAPI description of REST is complete: clients cannot use what is missing from it. */
class OpenApiTest {

    private static final JsonMapper JSON = new JsonMapper();

    private static final Path WRITTEN = Path.of("src", "main", "resources", "openapi.json");

    private static final Set<String> METHODS = Set.of("get", "post", "put", "patch", "delete");

    @TempDir
    static Path work;

    @AutoClose
    private static RunningService service;

    private static JsonNode api;

    private record Described(String name, String method, String path, JsonNode operation) {}

    @BeforeAll
    static void start() throws IOException {
        service = RunningService.start(
                work.resolve("work"), TestDatabase.fresh(), Map.of("springdoc.api-docs.enabled", "true"));
        api = JSON.readTree(service.bean(Made.class).json());
        if (Boolean.getBoolean("write.docs")) {
            Files.writeString(WRITTEN, text(api, 0) + "\n");
        }
    }

    @Test
    void theServiceShowsWhatTheHandlersSay() throws IOException {
        assertThat(JSON.readTree(Files.readString(WRITTEN)))
                .as("run this test with -Dwrite.docs=true")
                .isEqualTo(api);
        assertThat(service.get("/api/v1/openapi").text())
                .isEqualTo(new ClassPathResource("openapi.json").getContentAsString(StandardCharsets.UTF_8));
    }

    @Test
    void itIsOpenApi31() throws IOException, InterruptedException {
        Path file = Files.writeString(work.resolve("openapi.json"), api.toString());

        PythonTools.Verdict verdict = Schemathesis.validate(file);

        assertThat(api.at("/openapi").asString()).startsWith("3.1");
        assertThat(verdict.exitCode()).as(verdict.said()).isZero();
    }

    @Test
    void everyEndpointIsDescribed() {
        Set<String> permitted = Permissions.endpoints().stream()
                .filter(endpoint -> endpoint.path().startsWith("/api/"))
                .filter(endpoint -> !endpoint.path().equals("/api/v1/openapi"))
                .map(OpenApiTest::name)
                .collect(Collectors.toSet());

        assertThat(operations().stream().map(Described::name)).containsExactlyInAnyOrderElementsOf(permitted);
    }

    @Test
    void everyOperationHasASummaryAndATagAndANameOfItsOwn() {
        Set<String> names = new HashSet<>();
        for (Described described : operations()) {
            assertThat(described.operation().at("/summary").asString(""))
                    .as(described.name())
                    .isNotBlank();
            assertThat(described.operation().at("/tags").size())
                    .as(described.name())
                    .isEqualTo(1);
            assertThat(names.add(described.operation().at("/operationId").asString()))
                    .as(described.name())
                    .isTrue();
        }
    }

    @Test
    void everyParameterIsDescribed() {
        for (Described described : operations()) {
            for (JsonNode parameter : described.operation().at("/parameters")) {
                assertThat(parameter.at("/description").asString(""))
                        .as(
                                "%s: what is %s? Say it by @param, or in Description",
                                described.name(), parameter.at("/name"))
                        .isNotBlank();
                assertThat(parameter.at("/schema/type").isMissingNode())
                        .as(described.name() + " " + parameter.at("/name"))
                        .isFalse();
            }
        }
    }

    @Test
    void everyErrorIsAProblemAndEveryTypeIsNamed() {
        for (Described described : operations()) {
            JsonNode responses = described.operation().at("/responses");
            assertThat(responses.propertyNames())
                    .as(described.name())
                    .contains("400", "401", "403", "422", "429", "503");
            for (Entry<String, JsonNode> response : responses.properties()) {
                String what = described.name() + " " + response.getKey();
                boolean error =
                        response.getKey().startsWith("4") || response.getKey().startsWith("5");
                assertThat(response.getValue().at("/$ref").asString(""))
                        .as(what)
                        .isEqualTo(error ? "#/components/responses/" + response.getKey() : "");
                assertThat(response.getValue().at("/content").propertyNames())
                        .as(what)
                        .doesNotContain("*/*");
            }
        }
        for (Entry<String, JsonNode> error : api.at("/components/responses").properties()) {
            assertThat(error.getValue().at("/content").propertyNames())
                    .as(error.getKey())
                    .containsExactly("application/problem+json");
        }
    }

    /** NB: springdoc uses these names; of two records with the same name it would describe only one. */
    @Test
    void everyRecordHasANameOfItsOwn() {
        List<String> names = new ClassFileImporter()
                        .withImportOption(new DoNotIncludeTests())
                        .withImportOption(location -> !location.contains("-tests.jar"))
                        .importPackages("dozo.api")
                        .stream()
                        .filter(type -> type.isRecord() && !type.getModifiers().contains(JavaModifier.PRIVATE))
                        .map(JavaClass::getSimpleName)
                        .toList();

        assertThat(names).doesNotHaveDuplicates();
    }

    @Test
    void whatNoTokenMayDoSaysSo() {
        assertThat(operation("/me/tokens", "post").at("/security").toString()).isEqualTo("[{\"basic\":[]}]");
        assertThat(operation("/projects", "post").at("/security").isMissingNode())
                .isTrue();
        assertThat(api.at("/security").toString()).isEqualTo("[{\"basic\":[]},{\"bearer\":[]}]");
    }

    @Test
    void limitsAreThoseThatAreChecked() {
        JsonNode limit = parameter(operation("/projects", "get"), "limit").at("/schema");

        assertThat(limit.at("/minimum").asInt()).isEqualTo(1);
        assertThat(limit.at("/maximum").asInt()).isEqualTo(Page.LIMIT_MAX);
    }

    @Test
    void whatIsEditedHasTags() {
        for (String path :
                List.of("/projects/{project}", "/experiments/{project}/{code}", "/sites/{name}", "/users/{name}")) {
            assertThat(operation(path, "get").at("/responses/200/headers/ETag").isMissingNode())
                    .as(path)
                    .isFalse();
            assertThat(operation(path, "get").at("/responses/304").isMissingNode())
                    .as(path)
                    .isFalse();
        }
        assertThat(operation("/users/{name}", "patch").at("/responses/412").isMissingNode())
                .isFalse();
    }

    @Test
    void everyPostButThoseWithSecretsTakesAKey() {
        for (Described described : operations()) {
            boolean keyed = described
                    .operation()
                    .at("/parameters")
                    .valueStream()
                    .anyMatch(parameter -> parameter.at("/name").asString().equals("Idempotency-Key"));
            // Those of keys are refused the second time.
            boolean secret = Set.of(
                            "/api/v1/keys/{name}/rotation",
                            "/api/v1/me/tokens",
                            "/api/v1/me/tokens/{id}/rotation",
                            "/api/v1/users")
                    .contains(described.path());
            assertThat(keyed).as(described.name()).isEqualTo(described.method().equals("post") && !secret);
        }
    }

    /** Returns JSON with a line for each operation and each record, so that people see what a change changes. */
    private static String text(JsonNode node, int depth) {
        return !node.isObject() || depth == 3
                ? node.toString()
                : node.properties().stream()
                        .map(each -> "\"%s\": %s".formatted(each.getKey(), text(each.getValue(), depth + 1)))
                        .collect(Collectors.joining(",\n", "{\n", "\n}"));
    }

    private static JsonNode operation(String path, String method) {
        return api.at("/paths").path("/api/v1" + path).path(method);
    }

    private static JsonNode parameter(JsonNode operation, String name) {
        return operation
                .at("/parameters")
                .valueStream()
                .filter(parameter -> parameter.at("/name").asString().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private static String name(Endpoint endpoint) {
        return "%s %s".formatted(endpoint.method().toLowerCase(Locale.ROOT), endpoint.path());
    }

    private static List<Described> operations() {
        List<Described> operations = new ArrayList<>();
        for (Entry<String, JsonNode> path : api.at("/paths").properties()) {
            for (Entry<String, JsonNode> operation : path.getValue().properties()) {
                if (METHODS.contains(operation.getKey())) {
                    operations.add(new Described(
                            operation.getKey() + " " + path.getKey(),
                            operation.getKey(),
                            path.getKey(),
                            operation.getValue()));
                }
            }
        }
        return operations;
    }
}
