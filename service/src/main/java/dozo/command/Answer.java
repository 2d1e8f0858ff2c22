package dozo.command;

import java.io.PrintWriter;
import java.util.List;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.JsonNode;

/**
 * A response of the service.
 *
 * @param value the record of the REST API
 * @param sent the JSON as received
 */
record Answer<T>(T value, JsonNode sent) {

    /**
     * Reads the value.
     *
     * @throws Failure if the JSON does not have this type
     */
    static <T> Answer<T> of(JsonNode sent, JavaType type) {
        try {
            return new Answer<>(Connection.JSON.treeToValue(sent, type), sent);
        } catch (JacksonException e) {
            throw new Failure(
                    Exit.UNAVAILABLE,
                    Connection.visible("cannot parse the service's response: " + e.getOriginalMessage()));
        }
    }

    /** Reads the value of a response that was taken as it is. */
    static <T> Answer<T> of(Answer<JsonNode> answer, Class<T> type) {
        return of(answer.sent(), Connection.JSON.constructType(type));
    }

    /** Reads the items of a list. */
    static <T> Answer<List<T>> of(List<JsonNode> sent, Class<T> item) {
        return of(
                Connection.JSON.createArrayNode().addAll(sent),
                Connection.JSON.getTypeFactory().constructCollectionType(List.class, item));
    }

    /** Returns the first item of a list that is not empty. */
    static <T> Answer<T> first(Answer<List<T>> list) {
        return new Answer<>(list.value().getFirst(), list.sent().get(0));
    }

    /** Returns the items of a page, or of a list. */
    List<JsonNode> items() {
        return (sent.isArray() ? sent : sent.path("items")).valueStream().toList();
    }

    /** Returns the JSON with line breaks. */
    String json() {
        return Connection.JSON.writeValueAsString(sent);
    }

    /** Prints the JSON of each item on one line. */
    void printLines(PrintWriter out) {
        sent.forEach(item -> out.println(item.toString()));
    }
}
