-- A person who acknowledged the wrong finding takes it back. Without that, a mistake hides a problem for as long as it lasts.
-- The same transaction says first in the ledger who took it back; the row goes, so that everything counts the finding as open again.
create or replace function refuse_unless_finding_is_erased() returns trigger
    language plpgsql as
$$
begin
    if not exists (select from finding where finding_id = old.finding_id and being_erased(experiment_id))
       and not exists (select from ledger
                       where subject = old.finding_id::text and action = 'finding.reopened' and xmin = pg_current_xact_id()::xid) then
        raise exception 'rows of % are evidence: they go only if the ledger says who took them back', tg_table_name;
    end if;
    return old;
end
$$;
