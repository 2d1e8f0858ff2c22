package dozo.ledger;

import java.sql.Types;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.SqlParameterValue;

/**
 * The projects that a user may see: all, or some. Queries use {@code in_sight(:seen, p.code)}, so that a page is cut
 * after the filter and never before it (ADR 0028).
 */
public final class Sight {

    public static final Sight EVERYTHING = new Sight(null);

    private final String @Nullable [] projects;

    private Sight(String @Nullable [] projects) {
        this.projects = projects;
    }

    /** Returns the sight of the projects with these codes; without codes, of nothing. */
    public static Sight of(Collection<String> projects) {
        return new Sight(projects.toArray(String[]::new));
    }

    /** Returns whether this project and all that belongs to it may be seen. */
    public boolean sees(String project) {
        return projects == null || Arrays.asList(projects).contains(project);
    }

    /** Returns whether nothing is hidden. */
    public boolean ofEverything() {
        return projects == null;
    }

    /** Returns the parameter {@code :seen} of {@code in_sight(:seen, p.code)}. */
    public SqlParameterValue seen() {
        return new SqlParameterValue(Types.ARRAY, projects);
    }

    /** Returns the codes of the visible projects in order; null: all. */
    public @Nullable List<String> projects() {
        return projects == null ? null : Arrays.stream(projects).sorted().toList();
    }
}
