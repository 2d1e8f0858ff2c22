package dozo.ui;

import java.util.Set;

/**
 * Who looks at a page, and what they may do: what they may not is not shown.
 *
 * @param allowed methods and paths as they are mapped: {@code GET /experiments/{project}/{code}}
 */
public record Viewer(String name, Set<String> allowed) {

    /** The request's attribute that holds the viewer. */
    public static final String ATTRIBUTE = Viewer.class.getName();

    /** The request's attribute that holds why a page is refused to them, in English; absent where there is no more to say. */
    public static final String REASON = Viewer.class.getName() + ".reason";

    /** For a page that nobody logged in for. */
    static final Viewer NOBODY = new Viewer("", Set.of());

    /** Whether this method and path would be answered. */
    public boolean may(String method, String path) {
        return allowed.contains(method + " " + path);
    }
}
