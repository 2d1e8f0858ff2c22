package dozo.ui;

import dozo.file.Message;
import dozo.registry.Refusal;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The values of a form, and the errors by field. */
record Form(Map<String, String> values, Map<String, Message> errors) {

    /** A form without values. */
    static final Form EMPTY = new Form(Map.of(), Map.of());

    /** Returns a submitted form with the error of a refusal. */
    static Form refused(Map<String, String> values, Refusal refusal) {
        return new Form(values, Map.of(refusal.field(), refusal.message()));
    }

    /** Returns a field's value; empty if it has none. */
    public String value(String field) {
        return values.getOrDefault(field, "");
    }

    /** Returns why a field was refused, and what was expected; null if it was not. */
    public @Nullable Message error(String field) {
        return errors.get(field);
    }
}
