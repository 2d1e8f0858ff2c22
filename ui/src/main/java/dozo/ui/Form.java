package dozo.ui;

import dozo.file.Message;
import dozo.registry.Refusal;
import dozo.registry.Verdict;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import org.springframework.util.MultiValueMap;

/** The values of a form, and the errors by field. */
record Form(Map<String, String> values, Map<String, Message> errors) {

    /** A form without values. */
    static final Form EMPTY = new Form(Map.of(), Map.of());

    /** Returns a submitted form. Of a field with several values, such as boxes to tick, each is a line. */
    static Form of(MultiValueMap<String, String> typed) {
        Map<String, String> values = new LinkedHashMap<>();
        typed.forEach((field, all) -> values.put(field, String.join("\n", all)));
        return new Form(values, Map.of());
    }

    /** Returns a submitted form with all errors of a refusal, the first of each field. */
    static Form refused(Map<String, String> values, Refusal refusal) {
        Map<String, Message> errors = new LinkedHashMap<>();
        refusal.all().forEach(each -> errors.putIfAbsent(each.field(), each.message()));
        return new Form(values, errors);
    }

    /**
     * Returns a submitted form with the errors of all its experiments.
     *
     * @param field returns the name of an experiment's field in the form, from the field's own name
     */
    static Form judged(Map<String, String> values, List<Verdict> verdicts, BiFunction<Verdict, String, String> field) {
        Map<String, Message> errors = new LinkedHashMap<>();
        for (Verdict verdict : verdicts) {
            if (verdict.errors() != null) {
                verdict.errors()
                        .forEach(each -> errors.putIfAbsent(field.apply(verdict, each.field()), each.message()));
            }
        }
        return new Form(values, errors);
    }

    /** Returns the same with another value of a field. */
    Form with(String field, String value) {
        Map<String, String> others = new LinkedHashMap<>(values);
        others.put(field, value);
        return new Form(others, errors);
    }

    /** Returns a field's value; empty if it has none. */
    public String value(String field) {
        return values.getOrDefault(field, "");
    }

    /** Returns whether a line of a field is this value. */
    public boolean has(String field, String value) {
        return value(field).lines().anyMatch(value::equals);
    }

    /** Returns a field's value without white space around it; null if it is blank. */
    @Nullable
    String given(String field) {
        String value = value(field).strip();
        return value.isEmpty() ? null : value;
    }

    /** Returns when the thing was last changed, as the form's user saw it. */
    Instant seen() {
        try {
            return Instant.parse(value("seen"));
        } catch (DateTimeParseException e) {
            throw new Refusal("seen", "\"%s\": unknown version; load the page again", value("seen"));
        }
    }

    /** Returns why a field was refused, and what was expected; null if it was not. */
    public @Nullable Message error(String field) {
        return errors.get(field);
    }
}
