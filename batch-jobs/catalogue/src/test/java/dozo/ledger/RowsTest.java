package dozo.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.db.TestDatabase;
import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.file.Problem;
import java.nio.file.Path;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.beans.TypeMismatchException;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.simple.JdbcClient;

class RowsTest {

    private final JdbcClient jdbc = JdbcClient.create(TestDatabase.fresh());

    private record Everything(
            int id,
            long bytesSafe,
            boolean copied,
            String user,
            @Nullable Instant readAt,
            @Nullable LocalDate on,
            @Nullable LocalTime time,
            @Nullable FilePath path,
            @Nullable Path folder,
            @Nullable Digest digest,
            @Nullable Problem reason,
            @Nullable List<String> names,
            @Nullable SortedSet<Problem> reasons,
            @Nullable Long files) {}

    @Test
    void aColumnInSnakeCaseBecomesTheComponentInItsType() {
        Everything row = jdbc.sql("""
                        select 1 as id, 2::numeric as bytes_safe, true as copied, 'x' as user,
                               timestamptz '2026-10-01 09:00+09' as read_at, date '2026-10-01' as on, time '09:30' as time,
                               '\\x612f94'::bytea as path, '\\x2f61'::bytea as folder, sha256('') as digest,
                               'UNREADABLE' as reason, array['b', 'a'] as names, array['UNREADABLE', 'CHANGED'] as reasons,
                               4::bigint as files, 'not asked for' as more
                        """).query(Rows.of(Everything.class)).single();

        assertThat(row)
                .isEqualTo(new Everything(
                        1,
                        2,
                        true,
                        "x",
                        Instant.parse("2026-10-01T00:00:00Z"),
                        LocalDate.of(2026, 10, 1),
                        LocalTime.of(9, 30),
                        FilePath.of(new byte[] {'a', '/', (byte) 0x94}),
                        Path.of("/a"),
                        Digest.OF_NOTHING,
                        Problem.UNREADABLE,
                        List.of("b", "a"),
                        new TreeSet<>(List.of(Problem.CHANGED, Problem.UNREADABLE)),
                        4L));
    }

    @Test
    void aNullIsNull() {
        Everything row = jdbc.sql("""
                        select 1 as id, 2 as bytes_safe, false as copied, '' as user, null::timestamptz as read_at,
                               null::date as on, null::time as time, null::bytea as path, null::bytea as folder,
                               null::bytea as digest, null as reason, null::text[] as names, null::text[] as reasons,
                               null::bigint as files
                        """).query(Rows.of(Everything.class)).single();

        assertThat(row)
                .isEqualTo(new Everything(1, 2, false, "", null, null, null, null, null, null, null, null, null, null));
    }

    @Test
    void theComponentsOfARecordAreParameters() {
        record Written(
                Instant at,
                Problem reason,
                List<Problem> reasons,
                @Nullable LocalDate on,
                @Nullable Instant until) {}
        Instant at = Instant.parse("2026-10-01T00:00:00.000001Z");
        Written written =
                new Written(at, Problem.CHANGED, List.of(Problem.UNREADABLE), LocalDate.of(2026, 10, 1), null);

        assertThat(jdbc.sql("""
                                select :at::timestamptz as at, :reason as reason, :reasons::text[] as reasons, :on as on,
                                       :until::timestamptz as until
                                """)
                        .params(Rows.params(written))
                        .query(Rows.of(Written.class))
                        .single())
                .isEqualTo(written);
    }

    @Test
    void aNullNumberThatCannotBeNullIsADefect() {
        record Counted(long files) {}

        assertThatThrownBy(() -> jdbc.sql("select null::bigint as files")
                        .query(Rows.of(Counted.class))
                        .single())
                .isInstanceOf(TypeMismatchException.class);
    }

    @Test
    void aComponentWithoutAColumnIsADefect() {
        record Named(String name) {}

        assertThatThrownBy(() -> jdbc.sql("select 1 as number")
                        .query(Rows.of(Named.class))
                        .single())
                .isInstanceOf(DataAccessException.class)
                .hasStackTraceContaining("column name name was not found");
    }
}
