-- Owners and extended attributes of entries (ADR 0071). What few entries have stands in tables of its own, as entry_link does.

-- A tree mostly has one owner: it is kept once, and never changed, so an entry that has it needs no row.
create table experiment_owner (
    experiment_id integer primary key references experiment,
    uid bigint not null check (uid between 0 and 4294967294),
    gid bigint not null check (gid between 0 and 4294967294),
    manifest_no integer not null check (manifest_no >= 0)
);
comment on table experiment_owner is
    'The user and group of all entries of an experiment that have no row in entry_owner. No row: no owner was ever recorded.';
comment on column experiment_owner.manifest_no is
    'Entries that ended with this manifest, or before, were sealed before owners were recorded: theirs is unknown.';
create trigger experiment_owner_is_kept before update or delete or truncate on experiment_owner
    for each statement execute function refuse_change();

create table entry_owner (
    experiment_id integer not null,
    entry_no integer not null,
    uid bigint not null check (uid between -1 and 4294967294),
    gid bigint not null check (gid between -1 and 4294967294),
    check ((uid = -1) = (gid = -1)),
    primary key (experiment_id, entry_no)
) partition by hash (experiment_id);
comment on table entry_owner is
    'The user and group of entries that have others than experiment_owner says; -1: unknown, they came from a list. Never updated.';

create table entry_attribute (
    experiment_id integer not null,
    entry_no integer not null,
    attributes bytea[] not null check (cardinality(attributes) > 0 and cardinality(attributes) % 2 = 0),
    primary key (experiment_id, entry_no)
) partition by hash (experiment_id);
comment on table entry_attribute is
    'Extended attributes of an entry when it was sealed, ACLs among them: each name, followed by its value. Never updated.';

do
$$
declare
    part text;
begin
    foreach part in array array['entry_owner', 'entry_attribute'] loop
        for i in 0..15 loop
            execute format('create table %s_%s partition of %s for values with (modulus 16, remainder %s)', part, i, part, i);
        end loop;
    end loop;
end
$$;
