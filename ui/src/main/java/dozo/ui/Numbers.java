package dozo.ui;

import dozo.registry.Refusal;

/** Numbers as people type them. */
final class Numbers {

    private Numbers() {}

    /**
     * A whole number.
     *
     * @throws Refusal of the field when it is none
     */
    static int whole(String field, String text) {
        try {
            return Integer.parseInt(text.strip());
        } catch (NumberFormatException e) {
            throw new Refusal(field, "\"%s\": expected a whole number", text);
        }
    }
}
