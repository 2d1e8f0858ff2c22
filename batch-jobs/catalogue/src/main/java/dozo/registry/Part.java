package dozo.registry;

import org.jspecify.annotations.Nullable;

/**
 * The experiments that a night has: all, those of a project, or those that were collected from an origin.
 *
 * @param project its code; null: of all projects
 * @param origin its name; null: from anywhere
 */
public record Part(@Nullable String project, @Nullable String origin) {

    /** All experiments. */
    public static final Part WHOLE = new Part(null, null);

    public Part {
        if (project != null && origin != null) {
            throw new IllegalArgumentException("a part is of a project or of an origin, not of both");
        }
    }

    public static Part ofProject(String code) {
        return new Part(code, null);
    }

    public static Part ofOrigin(String name) {
        return new Part(null, name);
    }

    /** Returns whether it is all experiments. */
    public boolean isWhole() {
        return equals(WHOLE);
    }

    /** Returns it as people write it, such as {@code project P001}; empty: all experiments. */
    public String text() {
        if (project != null) {
            return "project " + project;
        }
        return origin != null ? "origin " + origin : "";
    }
}
