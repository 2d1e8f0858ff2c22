package dozo.ledger;

import java.sql.Types;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.SqlParameterValue;

/**
 * What of all there is somebody may see: everything, or what belongs to some projects. Queries ask
 * {@code in_sight(:seen, p.code)}, so that a page is cut after the filter and never before it (ADR 0028).
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

    /** The parameter {@code :seen} of {@code in_sight(:seen, p.code)}. */
    public SqlParameterValue seen() {
        return new SqlParameterValue(Types.ARRAY, projects);
    }

    /** The codes of the projects that are seen, in order; null: all. */
    public @Nullable List<String> projects() {
        return projects == null ? null : Arrays.stream(projects).sorted().toList();
    }
}
