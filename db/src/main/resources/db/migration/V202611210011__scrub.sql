-- Stored copies are read again, each within a promised age (ADR 0023). What is read as one is what a receipt covers; what was
-- found is evidence of its own, and takes the receipt's word back only for the entries that are not as they were proven.

alter table run
    drop constraint run_kind_check,
    add constraint run_kind_check check (kind in ('nightlyBackup', 'scrub'));

create table scrub (
    run_id bigint primary key references run,
    max_age_seconds bigint not null check (max_age_seconds >= 1),
    everything boolean not null,
    due_before timestamptz not null,
    bytes_per_second bigint not null check (bytes_per_second >= 0),
    until timestamptz,
    cold boolean not null,
    partitions integer not null default 1 check (partitions >= 1),
    copies_read bigint not null default 0 check (copies_read >= 0),
    bytes_read bigint not null default 0 check (bytes_read >= 0),
    copies_damaged bigint not null default 0 check (copies_damaged >= 0),
    seconds_busy double precision not null default 0 check (seconds_busy >= 0)
);
comment on table scrub is 'What a run of kind scrub was asked for, and what it has read so far.';
comment on column scrub.due_before is 'What was last read before this is read.';
comment on column scrub.bytes_per_second is 'The budget; 0: none.';
comment on column scrub.until is 'When it begins no more; null: when all is read.';
comment on column scrub.copies_read is 'Files, folders and links.';
comment on column scrub.seconds_busy is
    'How long the site took to tell digests, summed over the partitions side by side; waiting for the budget is not in it.';

-- The queue. A row is small and its own, because it changes with every reading, and a receipt never does.
create table stored (
    receipt_id bigint primary key references receipt,
    experiment_id integer not null references experiment,
    site_id integer not null references site,
    files integer not null check (files >= 0),
    bytes bigint not null check (bytes >= 0),
    last_read_at timestamptz not null
) with (fillfactor = 90);
comment on table stored is 'What lies at a site and is read again as one: the entries of a receipt, and when they were last read whole.';
comment on column stored.last_read_at is 'When they were last read; at first, when they were proven.';

insert into stored (receipt_id, experiment_id, site_id, files, bytes, last_read_at)
select r.receipt_id, r.experiment_id, r.site_id, count(*) filter (where e.kind = 'f'), coalesce(sum(e.size_bytes), 0), r.verified_at
from receipt r cross join lateral unnest(r.entry_nos) as n (entry_no)
left join entry_version e on e.experiment_id = r.experiment_id and e.entry_no = n.entry_no
group by r.receipt_id;

create index stored_oldest on stored (site_id, last_read_at, receipt_id) include (files, bytes);
create index stored_experiment on stored (experiment_id, site_id, last_read_at) include (files, bytes);

alter table protection
    add column files_stored bigint not null default 0,
    add column bytes_stored bigint not null default 0,
    add column examined_at timestamptz;
comment on column protection.files_stored is 'Files there are receipts for, those of earlier manifests too; bytes_stored their bytes.';
comment on column protection.examined_at is 'When what lies in the bag was last compared with what should; null: never.';
update protection p
    set files_stored = s.files, bytes_stored = s.bytes
    from (select experiment_id, site_id, sum(files) as files, sum(bytes) as bytes from stored group by experiment_id, site_id) s
    where s.experiment_id = p.experiment_id and s.site_id = p.site_id;

-- Whoever adds a receipt has it read again: nothing that is proven can be forgotten.
create function store_receipts() returns trigger
    language plpgsql as
$$
begin
    with fresh as (
        insert into stored (receipt_id, experiment_id, site_id, files, bytes, last_read_at)
        select r.receipt_id, r.experiment_id, r.site_id, s.files, s.bytes, r.verified_at
        from added r
        cross join lateral (
            select count(*) filter (where e.kind = 'f') as files, coalesce(sum(e.size_bytes), 0) as bytes
            from unnest(r.entry_nos) as n (entry_no)
            join entry_version e on e.experiment_id = r.experiment_id and e.entry_no = n.entry_no
        ) s
        returning *
    )
    update protection p
        set files_stored = files_stored + f.files, bytes_stored = bytes_stored + f.bytes
        from (select experiment_id, site_id, sum(files) as files, sum(bytes) as bytes from fresh group by 1, 2) f
        where p.experiment_id = f.experiment_id and p.site_id = f.site_id;
    return null;
end
$$;
create trigger receipt_is_stored after insert on receipt
    referencing new table as added for each statement execute function store_receipts();

create table reading (
    reading_id bigint generated always as identity primary key,
    receipt_id bigint not null references receipt,
    run_id bigint not null references run,
    read_at timestamptz not null,
    bytes bigint not null check (bytes >= 0),
    copies integer not null check (copies >= 0),
    cold boolean not null,
    method text not null check (method <> ''),
    not_as_proven integer[] check (cardinality(not_as_proven) >= 1)
);
comment on table reading is 'The evidence that what a receipt covers was read again at the site, and what came of it.';
comment on column reading.copies is
    'Those whose latest receipt this is and that were not known to be damaged; the others are read with their own.';
comment on column reading.cold is 'Whether the site was made to drop all of it from its memory before, so that its disk was read.';
comment on column reading.not_as_proven is 'The numbers of the entries that are in damage since; null: there are none.';
create index reading_receipt on reading (receipt_id, reading_id);
create trigger reading_is_evidence before update or delete or truncate on reading
    for each statement execute function refuse_change();

create table damage (
    damage_id bigint generated always as identity primary key,
    experiment_id integer not null references experiment,
    site_id integer not null references site,
    entry_no integer not null,
    receipt_id bigint not null references receipt,
    run_id bigint not null references run,
    found_at timestamptz not null,
    kind text not null check (kind in ('MISSING', 'TRUNCATED', 'ALTERED', 'REPLACED', 'RELINKED')),
    found_digest bytea check (octet_length(found_digest) = 32)
);
comment on table damage is
    'Copies that were found not to be as proven: the entry''s receipts up to receipt_id are void for it. A later one heals it.';
comment on column damage.kind is
    'MISSING: nothing has its name. TRUNCATED: shorter. ALTERED: other bytes. REPLACED: something else than a file, folder or link, as '
    'it was. RELINKED: a link with another target.';
comment on column damage.found_digest is 'What its bytes, or its target, have now; null where there are none.';
create unique index damage_entry on damage (experiment_id, site_id, entry_no, receipt_id);
create trigger damage_is_evidence before update or delete or truncate on damage
    for each statement execute function refuse_change();

-- Whether an entry is proven is asked here and nowhere else.
create view proven_entry as
select r.*
from entry_receipt r
where not exists (select from damage d
                  where d.experiment_id = r.experiment_id and d.site_id = r.site_id and d.entry_no = r.entry_no
                    and d.receipt_id >= r.receipt_id);
comment on view proven_entry is
    'A row for each entry of each receipt, but for those whose copy was found damaged since. For a few entries also ask '
    'for lowest_of(entry_nos) and highest_of(entry_nos), which are indexed.';

create view open_damage as
select d.*
from damage d
where not exists (select from receipt r
                  where r.experiment_id = d.experiment_id and r.site_id = d.site_id and r.receipt_id > d.receipt_id
                    and lowest_of(r.entry_nos) <= d.entry_no and highest_of(r.entry_nos) >= d.entry_no
                    and d.entry_no = any(r.entry_nos));
comment on view open_damage is 'Damage that is not repaired: there is no later receipt.';

-- What stands in an experiment's data folder at a site: for each name the latest proven entry, also where the source has deleted
-- it since, because nothing is deleted at the site; but not below what has been a file or link since, because the folder that they
-- were in stands among the versions. A damaged copy is one that should stand. In one place, and put into the query that asks.
create function standing_entry(an_experiment integer, a_site integer)
    returns table (path bytea, entry_no integer, kind "char", size_bytes bigint, receipt_id bigint, digest bytea)
    language sql stable parallel safe as
$$
    with proof as (
        select entry_no, receipt_id, digest from entry_receipt where experiment_id = an_experiment and site_id = a_site
    ), latest as (
        select distinct on (e.directory_no, e.name)
               entry_path(d.path, e.name) as path, e.entry_no, e.kind, e.size_bytes, proof.receipt_id, proof.digest
        from entry_version e join proof using (entry_no) join directory d using (experiment_id, directory_no)
        where e.experiment_id = an_experiment
        order by e.directory_no, e.name, e.entry_no desc, proof.receipt_id desc
    ), was_folder as (
        select d.path, max(e.entry_no) as entry_no
        from entry_version e join proof using (entry_no)
        join directory p on p.experiment_id = e.experiment_id and p.directory_no = e.directory_no
        join directory d on d.experiment_id = e.experiment_id and sha256(d.path) = sha256(entry_path(p.path, e.name))
        where e.experiment_id = an_experiment and e.kind <> 'd'
        group by d.path
    )
    select path, entry_no, kind, size_bytes, receipt_id, digest from latest l
    where not exists (select from was_folder w
                      where l.entry_no < w.entry_no
                        and substring(l.path for length(w.path) + 1) = w.path || '\x2f'::bytea)
$$;

create table tag_file (
    experiment_id integer not null references experiment,
    site_id integer not null references site,
    name bytea not null,
    digest bytea not null check (octet_length(digest) = 32),
    primary key (experiment_id, site_id, name)
);
comment on table tag_file is 'The tag files of each bag, as they were last written; those of bags that were settled before are not in it.';
