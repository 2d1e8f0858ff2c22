package dozo.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dozo.db.TestDatabase;
import dozo.ledger.Breach.Kind;
import dozo.ledger.Chain.Checked;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The chain shows where the owner of the database has changed a row, whatever the change. */
class ChainTest {

    private final HikariDataSource database = TestDatabase.fresh();
    private final TamperedLedger tampered = new TamperedLedger(database);
    private final Chain chain = new Chain(tampered.jdbc());

    @Test
    void anEmptyLedgerIsIntact() {
        assertThat(chain.check()).isEqualTo(new Checked(0, null, java.util.List.of(), 0));
    }

    @Test
    void tenThousandRowsOfAnyTextAreIntactAndTheLastOneIsTheHead() {
        tampered.append(10_000);

        Checked checked = chain.check();

        assertThat(checked.breaches()).isEmpty();
        assertThat(checked.rows()).isEqualTo(10_000);
        assertThat(checked.head())
                .isEqualTo(new Ledger(tampered.jdbc(), Instant::now).head().orElseThrow());
        assertThat(checked.head().seq()).isEqualTo(10_000);
        assertThat(checked.head().at()).isEqualTo("2026-02-01T02:46:39.009999Z");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "at = at + interval '1 microsecond'",
                "at = '2026-02-01 00:00:05.000004+00 BC'",
                "at = 'infinity'",
                "at = '-infinity'",
                "actor = 'jiro'",
                "actor = actor || ' '",
                "action = 'run.stopped'",
                "subject = 'p/E2'",
                "subject = ''",
                "detail = detail || '{\"n\": \"0\"}'",
                "detail = detail - 'n'",
                "detail = detail - 'n' || '{\"m\": \"6\"}'",
                "detail = jsonb_set(detail, '{n}', '6')",
                "hash = sha256(hash)",
                "hash = set_byte(hash, 31, get_byte(hash, 31) # 1)"
            })
    void anEditOfAnyColumnIsFoundAtItsRow(String edit) {
        tampered.append(10);

        tampered.tamper("update ledger set " + edit + " where seq = 6");

        Checked checked = chain.check();
        assertThat(checked.breaches().getFirst().kind()).isEqualTo(Kind.EDITED);
        assertThat(checked.breaches().getFirst().seq()).isEqualTo(6);
        assertThat(checked.rows()).isEqualTo(10);
        assertThat(checked.breachesCount())
                .as("the row behind is broken too where the hash is another one")
                .isEqualTo(edit.startsWith("hash") ? 2 : 1);
    }

    @Test
    void aRowWrittenBeforeChristHasTheSameHashInTheDatabaseAndIsFoundAllTheSame() {
        tampered.append(3);
        tampered.tamper(
                "update ledger set at = (to_char(at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') || '+00 BC')::timestamptz"
                        + " where seq = 2");

        assertThat(tampered.jdbc().sql("""
                                select count(*) from (select *, lag(hash) over (order by seq) as previous from ledger) l
                                where seq = 2 and hash = ledger_hash(previous, seq, at, actor, action, subject, detail)
                                """).query(Integer.class).single())
                .as("the function does not see it")
                .isEqualTo(1);
        assertBroken(Kind.EDITED, 2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"seq", "at", "actor", "action", "subject", "detail", "hash"})
    void whatIsNotThereAtAllBreaksTheChainAndNotTheCheck(String column) {
        tampered.append(5);
        tampered.jdbc().sql("alter table ledger drop constraint ledger_pkey").update();
        tampered.jdbc()
                .sql("alter table ledger alter column %s drop not null".formatted(column))
                .update();

        tampered.tamper("update ledger set %s = null where seq = 3".formatted(column));

        Checked checked = chain.check();
        assertThat(checked.rows()).isEqualTo(5);
        assertThat(checked.breaches().getFirst().seq()).isEqualTo(3);
        assertThat(checked.breaches().getFirst().kind()).isEqualTo(column.equals("seq") ? Kind.MISSING : Kind.EDITED);
    }

    @Test
    void aTextThatIsSplitElsewhereIsAnEdit() {
        new Ledger(tampered.jdbc(), () -> Instant.EPOCH).append("a", "run.started", "x\u001f3:abc", java.util.Map.of());
        tampered.jdbc()
                .sql("alter table ledger drop constraint ledger_action_check")
                .update();

        tampered.tamper("update ledger set action = 'run.started' || chr(31) || '7:x', subject = 'abc'");

        assertBroken(Kind.EDITED, 1);
    }

    @Test
    void removedRowsAreNamed() {
        tampered.append(10);
        tampered.undone(() -> {
            tampered.tamper("delete from ledger where seq in (4, 5, 8)");
            Checked checked = chain.check();
            assertThat(checked.breaches())
                    .extracting(Breach::message)
                    .containsExactly("rows 4 to 5 are missing", "row 8 is missing");
        });
        tampered.undone(() -> {
            tampered.tamper("delete from ledger where seq <= 2");
            assertBroken(Kind.MISSING, 1);
        });
        tampered.undone(() -> {
            tampered.tamper("delete from ledger where seq = 4", "update ledger set seq = seq - 1 where seq > 4");
            assertBroken(Kind.EDITED, 4);
        });
        tampered.undone(() -> {
            tampered.tamper("delete from ledger where seq > 7");
            assertThat(chain.check().breaches()).as("only an anchor shows this").isEmpty();
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"3, 4", "3, 7", "1, 2", "1, 10", "9, 10"})
    void rowsThatChangedPlacesAreNamedWithTheirPlace(String two) {
        tampered.append(10);
        String[] both = two.split(", ");

        tampered.tamper(
                "update ledger set seq = -seq where seq in (%s)".formatted(two),
                "update ledger set seq = case seq when -%1$s then %2$s else %1$s end where seq < 0"
                        .formatted(both[0], both[1]));

        assertBroken(Kind.OUT_OF_ORDER, Long.parseLong(both[0]));
        assertThat(chain.check().breaches().getFirst().message())
                .isEqualTo("row %s was originally appended as row %s".formatted(both[0], both[1]));
    }

    @Test
    void rowsThatChangedContentsAreNamedWithTheirPlace() {
        tampered.append(10);

        tampered.tamper("""
                update ledger a set at = b.at, actor = b.actor, action = b.action, subject = b.subject, detail = b.detail
                from ledger b where (a.seq, b.seq) in ((3, 7), (7, 3))
                """);

        assertBroken(Kind.OUT_OF_ORDER, 3);
    }

    @Test
    void aReversedLedgerAndOneWithARowTwiceAreOutOfOrder() {
        tampered.append(10);
        tampered.undone(() -> {
            tampered.tamper("update ledger set seq = -seq", "update ledger set seq = 11 + seq");
            assertThat(chain.check().breachesCount()).isEqualTo(10);
            assertThat(chain.check().breaches().getFirst().seq()).isEqualTo(1);
        });
        tampered.undone(() -> {
            tampered.jdbc()
                    .sql("alter table ledger drop constraint ledger_pkey")
                    .update();
            tampered.tamper("insert into ledger select * from ledger where seq = 5");
            assertBroken(Kind.OUT_OF_ORDER, 5);
        });
    }

    @Test
    void aFunctionThatWasReplacedDoesNotHideWhatItHashed() {
        tampered.append(3);
        tampered.jdbc().sql("""
                        create or replace function ledger_hash(previous bytea, row_seq bigint, row_at timestamptz,
                            row_actor text, row_action text, row_subject text, row_detail jsonb) returns bytea
                            language sql immutable return sha256(convert_to('anything', 'UTF8'))
                        """).update();
        tampered.append(1);

        assertBroken(Kind.EDITED, 4);
    }

    @Test
    void aHundredBreachesAreKeptAndAllAreCounted() {
        tampered.append(500);
        tampered.tamper("update ledger set actor = 'x' where seq > 50");

        Checked checked = chain.check();

        assertThat(checked.breaches()).hasSize(Breaches.KEPT_MAX);
        assertThat(checked.breachesCount()).isEqualTo(450);
        assertThat(checked.breaches().getFirst().seq()).isEqualTo(51);
    }

    private void assertBroken(Kind kind, long seq) {
        Checked checked = chain.check();
        assertThat(checked.breaches()).isNotEmpty();
        assertThat(checked.breaches().getFirst())
                .as("%s", checked.breaches())
                .extracting(Breach::kind, Breach::seq)
                .containsExactly(kind, seq);
    }
}
