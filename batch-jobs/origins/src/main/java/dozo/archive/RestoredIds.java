package dozo.archive;

import java.util.Optional;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** Which containers of a Flywheel were restored as which others. */
@Component
class RestoredIds {

    private final JdbcClient jdbc;

    RestoredIds(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    /** The ids of one origin. */
    Of of(int origin) {
        return new Of(jdbc, origin);
    }

    /**
     * The ids of one origin.
     *
     * @param origin its id
     */
    record Of(JdbcClient jdbc, int origin) {

        /** Returns the id that a container was restored as. */
        Optional<String> now(ContainerKind kind, String old) {
            return jdbc.sql("""
                            select new_id from flywheel_restored
                            where origin_id = :origin and kind = :kind and old_id = :old
                            """)
                    .param("origin", origin)
                    .param("kind", kind.word())
                    .param("old", old)
                    .query((row, n) -> row.getString(1))
                    .optional();
        }

        /** Returns whether a container was restored in the place of another one than this. */
        boolean isOfAnother(ContainerKind kind, String now, String old) {
            return jdbc.sql("""
                            select exists (select from flywheel_restored
                                where origin_id = :origin and kind = :kind and new_id = :now and old_id <> :old)
                            """)
                    .param("origin", origin)
                    .param("kind", kind.word())
                    .param("now", now)
                    .param("old", old)
                    .query((row, n) -> row.getBoolean(1))
                    .single();
        }

        /** Records a container. Of one that was restored before and is gone, the new id replaces the old one. */
        void add(ContainerKind kind, String old, String now) {
            jdbc.sql("""
                            insert into flywheel_restored (origin_id, kind, old_id, new_id) values (:origin, :kind, :old, :now)
                            on conflict (origin_id, kind, old_id) do update set new_id = excluded.new_id
                            """)
                    .param("origin", origin)
                    .param("kind", kind.word())
                    .param("old", old)
                    .param("now", now)
                    .update();
        }
    }
}
