-- Erasures: an experiment is removed at home and at every site, because a subject wants it (ADR 0093). What stays is the row here,
-- the ledger, and the certificates that people have.

create table erasure (
    erasure_id bigint generated always as identity primary key,
    project_id integer not null references project,
    code text not null check (code ~ '^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$'),
    experiment_id integer not null,
    registered_at timestamptz not null,
    reason text not null check (length(reason) between 1 and 500 and reason !~ '[[:cntrl:]]'),
    requested_by text not null check (requested_by <> ''),
    requested_at timestamptz not null,
    approved_by text check (lower(approved_by) <> lower(requested_by)),
    approved_at timestamptz,
    not_before timestamptz check (not_before >= approved_at),
    withdrawn_by text,
    withdrawn_at timestamptz,
    begun_at timestamptz check (begun_at >= not_before),
    manifests integer,
    files bigint,
    bytes bigint,
    receipts bigint,
    completed_at timestamptz,
    message text not null default '',
    check (num_nulls(approved_by, approved_at, not_before) in (0, 3)),
    check (num_nulls(withdrawn_by, withdrawn_at) in (0, 2)),
    check (num_nulls(begun_at, manifests, files, bytes, receipts) in (0, 5)),
    check (begun_at is null or approved_at is not null and withdrawn_at is null),
    check (completed_at is null or begun_at is not null)
);
comment on table erasure is 'Who wanted an experiment to be erased, who approved it, and how far it is. A tombstone once it has begun.';
comment on column erasure.experiment_id is 'Its number, which no other ever has. The row that it referred to is gone once the erasure has begun.';
comment on column erasure.approved_by is 'Never the person who requested it.';
comment on column erasure.not_before is 'The end of the waiting time, until which it can be withdrawn.';
comment on column erasure.begun_at is 'When the experiment was erased in the catalogue. There is no way back then.';
comment on column erasure.manifests is 'How many manifests it had; files and bytes: of the last one; receipts: at all sites.';
comment on column erasure.completed_at is 'When nothing of it was left at any site.';
comment on column erasure.message is 'Why it has not begun although its waiting time is over; empty: it has, or it is not.';
create unique index erasure_once on erasure (project_id, code) where withdrawn_at is null;
create index erasure_experiment on erasure (experiment_id);

create table erasure_site (
    erasure_id bigint not null references erasure,
    site_id integer not null references site,
    files bigint not null,
    bytes bigint not null,
    tried_at timestamptz,
    message text not null default '',
    removed_at timestamptz,
    stated_by text,
    stated_reason text check (length(stated_reason) between 1 and 500 and stated_reason !~ '[[:cntrl:]]'),
    done_at timestamptz,
    primary key (erasure_id, site_id),
    check (num_nulls(stated_by, stated_reason) in (0, 2)),
    check (done_at is null or removed_at is not null or stated_by is not null)
);
comment on table erasure_site is 'How far an erasure is at each site that may have something of the experiment.';
comment on column erasure_site.files is 'What receipts said to be there when the erasure began, with earlier versions; bytes: their size.';
comment on column erasure_site.message is 'Why the last try did not remove everything.';
comment on column erasure_site.removed_at is 'When its folders were gone. Older records of the catalogue may still have its names, encrypted.';
comment on column erasure_site.stated_by is 'The person who stated that nothing is left there, because Dozo cannot remove it or not ask.';
comment on column erasure_site.done_at is 'When nothing of it was left, also in records of the catalogue.';
create index erasure_site_open on erasure_site (site_id) where done_at is null;

-- An erasure is never forgotten, and goes on in one direction.
create function erasure_only_goes_on() returns trigger
    language plpgsql as
$$
declare
    later jsonb := to_jsonb(old) - 'message';
    key text;
begin
    for key in select k from jsonb_object_keys(later) k loop
        if later -> key <> 'null' and later -> key is distinct from to_jsonb(new) -> key then
            raise exception 'rows of erasure are evidence: nothing in them is changed that was set once (%)', key;
        end if;
    end loop;
    if old.begun_at is not null and new.withdrawn_at is not null then
        raise exception 'an erasure that has begun cannot be withdrawn';
    end if;
    return new;
end
$$;
create trigger erasure_only_goes_on before update on erasure for each row execute function erasure_only_goes_on();
create trigger erasure_is_append_only before delete or truncate on erasure for each statement execute function refuse_change();
create trigger erasure_site_is_append_only before delete or truncate on erasure_site for each statement execute function refuse_change();

-- The code of an erased experiment is never given again: the ledger and certificates would tell of two experiments by one name.
create function refuse_erased_code() returns trigger
    language plpgsql as
$$
begin
    if exists (select from erasure where project_id = new.project_id and code = new.code and begun_at is not null) then
        raise exception 'experiment % of project % was erased', new.code, new.project_id using errcode = 'unique_violation';
    end if;
    return new;
end
$$;
create trigger experiment_was_not_erased before insert or update of project_id, code on experiment
    for each row execute function refuse_erased_code();

-- Evidence is deleted in one case only: an erasure of its experiment has begun, which the same transaction says first.
create function being_erased(an_experiment integer) returns boolean
    language sql stable
    return exists (select from erasure where experiment_id = an_experiment and begun_at is not null);
comment on function being_erased is 'Whether an erasure of an experiment has begun.';

create function refuse_unless_erased() returns trigger
    language plpgsql as
$$
begin
    if not being_erased(old.experiment_id) then
        raise exception 'rows of % are evidence: they are appended, never changed or removed', tg_table_name;
    end if;
    return old;
end
$$;

create function refuse_unless_finding_is_erased() returns trigger
    language plpgsql as
$$
begin
    if not exists (select from finding where finding_id = old.finding_id and being_erased(experiment_id)) then
        raise exception 'rows of % are evidence: they are appended, never changed or removed', tg_table_name;
    end if;
    return old;
end
$$;

create or replace function refuse_to_forget_reading() returns trigger
    language plpgsql as
$$
begin
    if (old.read_at > now() - interval '90 days'
        or not exists (select from reading r where r.receipt_id = old.receipt_id and r.reading_id > old.reading_id))
       and not exists (select from receipt r where r.receipt_id = old.receipt_id and being_erased(r.experiment_id)) then
        raise exception 'rows of reading are evidence: only one older than 90 days with a later one of the same receipt is deleted';
    end if;
    return old;
end
$$;

do
$$
declare
    guarded text[];
begin
    foreach guarded slice 1 in array array[
        ['manifest', 'manifest_is_sealed', 'update or truncate'],
        ['receipt', 'receipt_is_evidence', 'update or truncate'],
        ['damage', 'damage_is_evidence', 'update or truncate'],
        ['acknowledgement', 'acknowledgement_is_evidence', 'update or truncate'],
        ['experiment_owner', 'experiment_owner_is_kept', 'update or truncate'],
        ['coverage', 'coverage_is_append_only', 'truncate'],
        ['hold', 'hold_is_append_only', 'truncate']] loop
        execute format('drop trigger %2$s on %1$s', variadic guarded);
        execute format('create trigger %2$s before %3$s on %1$s for each statement execute function refuse_change()', variadic guarded);
        execute format('create trigger %1$s_is_erased before delete on %1$s for each row execute function %2$s()', guarded[1],
                       case guarded[1] when 'acknowledgement' then 'refuse_unless_finding_is_erased' else 'refuse_unless_erased' end);
    end loop;
end
$$;

-- Records of the catalogue at a site contain what has been erased since, until the chain of them begins anew and the old ones are removed.
alter table catalogue_base add column first_number bigint, add column renew boolean not null default false;
comment on column catalogue_base.renew is 'Whether the next record continues none, because what was erased is in those before.';
comment on column catalogue_base.first_number is
    'The number of the record that the last one continues in the end. Records with lower numbers are not needed. Null: not known.';

create view audit.erasure with (security_barrier) as
select p.code as project, e.code as experiment, e.erasure_id as erasure, e.requested_by, e.requested_at, e.approved_by, e.approved_at,
       e.withdrawn_at, e.begun_at, e.files, e.bytes, e.completed_at
from erasure e join audit_project p using (project_id);
comment on view audit.erasure is 'Erasures: experiments that were, or are to be, removed at home and at every site';
comment on column audit.erasure.project is 'The project''s code';
comment on column audit.erasure.experiment is 'The experiment''s code';
comment on column audit.erasure.erasure is 'Its number';
comment on column audit.erasure.requested_by is 'The user who requested it';
comment on column audit.erasure.requested_at is 'When';
comment on column audit.erasure.approved_by is 'The other user, who approved it; null: nobody has yet';
comment on column audit.erasure.approved_at is 'When';
comment on column audit.erasure.withdrawn_at is 'When it was withdrawn; null: it was not';
comment on column audit.erasure.begun_at is 'When the experiment was erased in the catalogue; null: not yet';
comment on column audit.erasure.files is 'How many files its last manifest had';
comment on column audit.erasure.bytes is 'The size of those files';
comment on column audit.erasure.completed_at is 'When nothing of it was left at any site; null: not yet';
