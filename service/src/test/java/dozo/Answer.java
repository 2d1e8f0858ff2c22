package dozo;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpHeaders;
import java.net.http.HttpResponse;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * What the service has answered.
 *
 * @param uri of the last request, after redirects
 */
public record Answer(int status, String text, HttpHeaders headers, URI uri) {

    private static final JsonMapper JSON = new JsonMapper();

    public static Answer of(HttpResponse<String> response) {
        return new Answer(response.statusCode(), response.body(), response.headers(), response.uri());
    }

    /** Returns the value of a header; empty if there is none. */
    public String header(String name) {
        return headers.firstValue(name).orElse("");
    }

    public String type() {
        return header("Content-Type");
    }

    public @Nullable String location() {
        return headers.firstValue("Location").orElse(null);
    }

    /** Returns the body, which must be JSON. */
    public JsonNode json() {
        assertThat(type()).as(text).contains("json");
        return JSON.readTree(text);
    }

    public JsonNode at(String pointer) {
        return json().at(pointer);
    }

    public String string(String pointer) {
        return at(pointer).asString();
    }

    public long number(String pointer) {
        return at(pointer).asLong();
    }

    /** Returns the length of the list {@code items}. */
    public int items() {
        return at("/items").size();
    }

    /** Asserts the status. */
    public Answer expect(int expected) {
        assertThat(status).as(text).isEqualTo(expected);
        return this;
    }

    /** Asserts the text of a value. */
    public Answer has(String pointer, Object expected) {
        assertThat(string(pointer)).as(text).isEqualTo(String.valueOf(expected));
        return this;
    }

    /** Asserts that this is a problem with this status. */
    public Answer isProblem(int expected) {
        expect(expected);
        assertThat(type()).startsWith("application/problem+json");
        return this;
    }

    /** Asserts that this is a problem whose first error names the field. */
    public Answer refused(int expected, String field) {
        isProblem(expected).has("/errors/0/field", field);
        assertThat(string("/errors/0/message")).isNotBlank();
        return this;
    }
}
