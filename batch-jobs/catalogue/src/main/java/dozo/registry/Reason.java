package dozo.registry;

import dozo.file.Digest;

/**
 * Why a person wants something, in their own words. The words may contain names, so the ledger gets only their digest.
 *
 * @param text one line of 1 to 500 characters
 */
public record Reason(String text) {

    private static final int LENGTH_MAX = 500;

    /**
     * Returns a reason as it was typed, without spaces around it.
     *
     * @throws Refusal if it is empty, too long, or not one line
     */
    public static Reason of(String typed) {
        return of(typed, LENGTH_MAX);
    }

    /** Returns one that is not longer than a limit, in characters. */
    static Reason of(String typed, int lengthMax) {
        String text = typed.strip();
        if (text.isEmpty() || text.codePointCount(0, text.length()) > lengthMax || !Code.isText(text)) {
            throw new Refusal("reason", "expected a reason of 1 to %d characters in one line", lengthMax);
        }
        return new Reason(text);
    }

    /** Returns the digest of the text, for the ledger. */
    public Digest sha256() {
        return Digest.ofText(text);
    }
}
