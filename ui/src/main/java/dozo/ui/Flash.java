package dozo.ui;

import static java.util.Objects.requireNonNull;

import dozo.ui.Operation.Field;
import dozo.ui.Operation.Kind;
import dozo.web.Etag;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.http.ResponseEntity;
import org.springframework.web.servlet.FlashMap;
import org.springframework.web.servlet.support.RequestContextUtils;
import org.springframework.web.util.UriComponentsBuilder;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * What the next page says once: what was done, and how that is undone.
 *
 * @param undo the address of the form that undoes it; null: nothing does, or the user may not
 * @param fields of that form
 */
record Flash(String said, @Nullable String undo, Map<String, String> fields) {

    /** The name of the message among a page's objects. */
    static final String NAME = "flash";

    /**
     * Returns the message after an operation that was done.
     *
     * @param former the values before, of an operation that corrects something
     */
    static Flash of(
            String said,
            Operation operation,
            Map<String, String> variables,
            Form typed,
            Form former,
            @Nullable Object answer,
            Viewer viewer,
            JsonMapper json) {
        Object body = answer instanceof ResponseEntity<?> entity ? entity.getBody() : answer;
        if (operation.present() != null && body != null) {
            Map<String, String> back = back(operation, typed, former);
            if (back.isEmpty()) {
                return new Flash(said, null, back);
            }
            back.put("only", String.join(",", back.keySet()));
            back.put(Operation.SEEN, Etag.of(json, body));
            return new Flash(said, path(operation.page(), variables), back);
        }
        String undo = operation.undo();
        if (undo.isEmpty() || !viewer.may("POST", undo.replaceFirst("\\?.*", ""))) {
            return new Flash(said, null, Map.of());
        }
        Map<String, String> values = new HashMap<>(typed.values());
        for (Map.Entry<String, JsonNode> field :
                json.<JsonNode>valueToTree(body == null ? Map.of() : body).properties()) {
            values.put(field.getKey(), field.getValue().asString(""));
        }
        values.putAll(variables);
        return new Flash(said, path(undo, values), Map.of());
    }

    /** Returns the fields that bring the former values back, unless somebody has changed them since; empty: none differs. */
    private static Map<String, String> back(Operation operation, Form typed, Form former) {
        Map<String, String> back = new LinkedHashMap<>();
        for (Field field : operation.changed(typed)) {
            String before = former.value(field.name());
            String now = typed.value(field.name()).strip().replace("\r\n", "\n");
            boolean same =
                    field.kind() == Kind.CHECK ? before.equals("true") == now.equals("true") : before.equals(now);
            if (!same && field.kind() != Kind.PASSWORD) {
                back.put(field.name(), before);
            }
        }
        return back;
    }

    private static String path(String pattern, Map<String, String> values) {
        return UriComponentsBuilder.fromUriString(pattern)
                .encode()
                .build()
                .expand(name -> values.getOrDefault(requireNonNull(name), ""))
                .toUriString();
    }

    /** Redirects to a page of this service, which says it. */
    void leadTo(String address, HttpServletRequest request, HttpServletResponse response) throws IOException {
        FlashMap kept = new FlashMap();
        kept.put(NAME, this);
        String path = address.replaceFirst("[?#].*", "");
        if (!path.contains("%")) {
            // So that no request of another page in between takes it.
            kept.setTargetRequestPath(path);
        }
        kept.startExpirationPeriod(60);
        var manager = RequestContextUtils.getFlashMapManager(request);
        if (manager != null) {
            manager.saveOutputFlashMap(kept, request, response);
        }
        response.sendRedirect(address);
    }
}
