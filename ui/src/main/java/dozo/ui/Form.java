package dozo.ui;

import dozo.file.Message;
import dozo.registry.Refusal;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What was typed into a form, and what of it is not accepted, by field. */
record Form(Map<String, String> values, Map<String, Message> errors) {

    /** Before anything is typed. */
    static final Form EMPTY = new Form(Map.of(), Map.of());

    /** The form that was sent, with what is not accepted of it. */
    static Form refused(Map<String, String> values, Refusal refusal) {
        return new Form(values, Map.of(refusal.field(), refusal.message()));
    }

    /** What was typed into a field; empty: nothing. */
    public String value(String field) {
        return values.getOrDefault(field, "");
    }

    /** Why it is not accepted, and what would be; null: it is. */
    public @Nullable Message error(String field) {
        return errors.get(field);
    }
}
