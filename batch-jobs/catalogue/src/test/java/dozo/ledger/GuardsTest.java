package dozo.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.db.TestDatabase;
import dozo.ledger.Breach.Kind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The guards of the ledger in its database, and every way to remove them. */
class GuardsTest {

    private final TamperedLedger ledger = new TamperedLedger(TestDatabase.fresh());
    private final Guards guards = new Guards(ledger.jdbc());

    @Test
    void asTheMigrationsLeaveItAllIsInPlace() {
        assertThat(guards.breaches()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "alter table ledger disable trigger ledger_is_append_only | ledger_is_append_only is disabled",
                "alter table ledger disable trigger all | ledger_append is disabled",
                "alter table ledger enable replica trigger ledger_is_append_only | ledger_is_append_only is disabled",
                "drop trigger ledger_is_append_only on ledger | ledger_is_append_only is missing",
                "drop trigger ledger_append on ledger | ledger_append is missing",
                "create or replace trigger ledger_is_append_only before update or delete on ledger for each statement"
                        + " execute function refuse_change() | ledger_is_append_only or its function differs",
                "create or replace trigger ledger_is_append_only before update of actor or delete or truncate on ledger"
                        + " for each statement execute function refuse_change() | ledger_is_append_only or its function",
                "create or replace trigger ledger_append before insert on ledger for each row when (new.actor <> 'x')"
                        + " execute function ledger_append() | ledger_append or its function",
                "create or replace function refuse_change() returns trigger language plpgsql as 'begin return null; end'"
                        + " | ledger_is_append_only or its function differs",
                "create trigger also before insert on ledger for each row execute function refuse_change()"
                        + " | a trigger that is not Dozo's: also",
                "create rule lost as on insert to ledger do instead nothing | a rule that is not Dozo's: lost",
                "drop function ledger_hash | the function ledger_hash differs",
                "create or replace function ledger_hash(previous bytea, row_seq bigint, row_at timestamptz, row_actor text,"
                        + " row_action text, row_subject text, row_detail jsonb) returns bytea language sql immutable"
                        + " return sha256(previous) | the function ledger_hash differs"
            })
    void whatIsTakenAwayOrReplacedIsSaid(String statement, String said) {
        ledger.jdbc().sql(statement).update();

        assertThat(guards.breaches()).isNotEmpty().first().satisfies(breach -> {
            assertThat(breach.kind()).isEqualTo(Kind.UNGUARDED);
            assertThat(breach.message()).contains(said);
        });
    }
}
