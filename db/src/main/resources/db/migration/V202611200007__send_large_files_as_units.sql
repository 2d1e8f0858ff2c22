-- A large file is one transfer unit now (ADR 0014): its ranges are proven at the site when it is sent again, and nothing
-- about them is kept here. What was under way is planned anew by the next run.

delete from transfer_unit where kind = 'RANGE';
update transfer_unit set state = 'CANCELLED' where state in ('PLANNED', 'FAILED') and kind = 'WHOLE';

drop index transfer_unit_open;
alter table transfer_unit
    drop constraint transfer_unit_check1,
    drop constraint transfer_unit_kind_check,
    drop constraint transfer_unit_state_check,
    drop column offset_bytes;
update transfer_unit set kind = 'LARGE' where kind = 'WHOLE';
alter table transfer_unit
    add check (kind in ('BUNDLE', 'LARGE')),
    add check (state in ('PLANNED', 'VERIFIED', 'FAILED', 'CANCELLED'));
create index transfer_unit_open on transfer_unit (experiment_id, site_id) where state in ('PLANNED', 'FAILED');

comment on column transfer_unit.kind is 'BUNDLE: many whole entries. LARGE: one large file, sent as ranges over all lanes.';
