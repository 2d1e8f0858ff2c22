package dozo.ui;

import dozo.registry.Refusal;

/** Parses numbers that people type. */
final class Numbers {

    private Numbers() {}

    /**
     * Returns a whole number.
     *
     * @throws Refusal for this field if it is not a whole number
     */
    static int whole(String field, String text) {
        try {
            return Integer.parseInt(text.strip());
        } catch (NumberFormatException e) {
            throw new Refusal(field, "\"%s\": expected a whole number", text);
        }
    }
}
