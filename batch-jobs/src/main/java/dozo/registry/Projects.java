package dozo.registry;

import dozo.ledger.Ledger;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/** The projects. */
@Component
public class Projects {

    private static final RowMapper<Project> PROJECT = (row, n) -> new Project(
            row.getInt("project_id"),
            row.getString("code"),
            row.getString("title"),
            row.getTimestamp("created_at").toInstant());

    private final JdbcClient jdbc;
    private final Ledger ledger;
    private final InstantSource clock;

    /** A project owns experiments; its code names its folder at a site. */
    public record Project(int id, String code, String title, Instant createdAt) {}

    public Projects(JdbcClient jdbc, Ledger ledger, InstantSource clock) {
        this.jdbc = jdbc;
        this.ledger = ledger;
        this.clock = clock;
    }

    /**
     * Creates a project.
     *
     * @throws Refusal when the code is malformed or taken
     */
    @Transactional
    public Project create(String code, String title, String actor) {
        Code.checked("code", code);
        Code.checkedTitle(title);
        try {
            Project project = jdbc.sql(
                            "insert into project (code, title, created_at) values (:code, :title, :now) returning *")
                    .param("code", code)
                    .param("title", title)
                    .param("now", Timestamp.from(clock.instant()))
                    .query(PROJECT)
                    .single();
            ledger.append(actor, "project.created", code, Map.of("title", title));
            return project;
        } catch (DuplicateKeyException e) {
            throw new Refusal("code", "there is a project %s already".formatted(code));
        }
    }

    public Optional<Project> find(String code) {
        return jdbc.sql("select * from project where code = :code")
                .param("code", code)
                .query(PROJECT)
                .optional();
    }

    /** At most {@code limit} projects whose code comes after {@code after}, by code. */
    public List<Project> page(String after, int limit) {
        return jdbc.sql("select * from project where code > :after order by code limit :limit")
                .param("after", after)
                .param("limit", limit)
                .query(PROJECT)
                .list();
    }
}
