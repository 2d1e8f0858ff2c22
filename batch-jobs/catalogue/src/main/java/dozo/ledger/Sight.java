package dozo.ledger;

import java.util.Arrays;
import java.util.Collection;
import org.jspecify.annotations.Nullable;

/**
 * What of all there is somebody may see: everything, or what belongs to some projects. Queries take it as the parameter
 * {@code :seen}, so that a page is cut after the filter and never before it (ADR 0028).
 */
public final class Sight {

    public static final Sight EVERYTHING = new Sight(null);

    private final String @Nullable [] projects;

    private Sight(String @Nullable [] projects) {
        this.projects = projects;
    }

    /** Only what belongs to the projects with these codes; of none of them: nothing. */
    public static Sight of(Collection<String> projects) {
        return new Sight(projects.toArray(String[]::new));
    }

    /** Whether this project is seen, and all that belongs to it. */
    public boolean sees(String project) {
        return projects == null || Arrays.asList(projects).contains(project);
    }

    /** Whether nothing is hidden. */
    public boolean ofEverything() {
        return projects == null;
    }

    /** For {@code (:seen::text[] is null or p.code = any(:seen::text[]))}, of the type {@link java.sql.Types#ARRAY}. */
    public String @Nullable [] seen() {
        return projects == null ? null : projects.clone();
    }
}
