package dozo.registry;

import dozo.ledger.Sight;
import java.util.List;
import java.util.Map;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** The scanners and modalities of the experiments that a user may see, as suggestions in forms. */
@Component
public class Acquisitions {

    /** The maximum number of suggestions. */
    private static final int KNOWN_MAX = 200;

    private final JdbcClient jdbc;

    public Acquisitions(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    /** Returns the scanners' codes, by code. */
    public List<String> scanners(Sight sight) {
        return known("scanner", sight);
    }

    /** Returns the modalities, by code. */
    public List<String> modalities(Sight sight) {
        return known("modality", sight);
    }

    private List<String> known(String column, Sight sight) {
        return jdbc.sql("""
                        select distinct e.%1$s from experiment e join project p using (project_id)
                        where e.%1$s is not null and in_sight(:seen, p.code)
                        order by e.%1$s limit :limit
                        """.formatted(column))
                .params(Map.of("seen", sight.seen(), "limit", KNOWN_MAX))
                .query((row, n) -> row.getString(1))
                .list();
    }
}
