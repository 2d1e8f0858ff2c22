-- The evidence of what lies at a site, and what is safe by it: receipts, readings of stored copies (ADR 0023), damage, and
-- coverage now and as it was (ADR 0020). Nothing here is kept per entry but 36 bytes in a receipt.

create table receipt (
    receipt_id bigint generated always as identity primary key,
    experiment_id integer not null references experiment,
    site_id integer not null references site,
    unit_id bigint not null references transfer_unit,
    run_id bigint not null references run,
    manifest_no integer check (manifest_no >= 1),
    entry_nos integer[] not null check (cardinality(entry_nos) >= 1),
    -- Digests do not compress; stored as they are, one of them can be read without the rest.
    digests bytea storage external not null check (octet_length(digests) = 32 * cardinality(entry_nos)),
    method text not null check (method <> ''),
    worker text not null,
    verified_at timestamptz not null
);
comment on table receipt is
    'The evidence that bytes at the site have these digests: computed there by the method, equal to those read at the source.';
comment on column receipt.manifest_no is
    'The current manifest when the unit was claimed: what its entries replaced is kept under this number. '
    'Null: not noted then; the one that was current when it was verified.';
comment on column receipt.digests is 'SHA-256 of each entry, 32 bytes each, in the order of entry_nos.';
create trigger receipt_is_evidence before update or delete or truncate on receipt
    for each statement execute function refuse_change();

-- The evidence for one entry: of an experiment's receipts only those are read that can have its number between their
-- lowest and highest. Functions, because the array's order is nobody's promise.
create function lowest_of(numbers integer[]) returns integer
    language sql immutable parallel safe
    return (select min(n) from unnest(numbers) as t (n));
create function highest_of(numbers integer[]) returns integer
    language sql immutable parallel safe
    return (select max(n) from unnest(numbers) as t (n));
create index receipt_span on receipt (experiment_id, site_id, lowest_of(entry_nos), highest_of(entry_nos));

-- Where the copy of an entry lies at a site follows from receipts (ADR 0022): it stands under its name until another
-- content is proven there, and is moved then to the versions of the manifest that this one was sent under.
create view entry_receipt as
select r.experiment_id, r.site_id, r.receipt_id, r.entry_nos, n.entry_no,
       substring(r.digests from (n.i::integer - 1) * 32 + 1 for 32) as digest,
       coalesce(r.manifest_no,
                (select max(m.manifest_no) from manifest m
                 where m.experiment_id = r.experiment_id and m.sealed_at <= r.verified_at),
                1) as manifest_no
from receipt r cross join lateral unnest(r.entry_nos) with ordinality as n (entry_no, i);
comment on view entry_receipt is
    'A row for each entry of each receipt, also when something has been found about it since. For a few entries also ask '
    'for lowest_of(entry_nos) and highest_of(entry_nos), which are indexed.';

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

-- The queue: stored copies are read again, each within a promised age; as one what a receipt covers. A row is small and its own, because it changes with every reading, and a receipt never does.
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
create index stored_oldest on stored (site_id, last_read_at, receipt_id) include (files, bytes);
create index stored_experiment on stored (experiment_id, site_id, last_read_at) include (files, bytes);

create table protection (
    experiment_id integer not null references experiment,
    site_id integer not null references site,
    manifest_no integer not null,
    files bigint not null,
    bytes bigint not null,
    entries bigint not null,
    files_safe bigint not null check (files_safe >= 0),
    bytes_safe bigint not null check (bytes_safe >= 0),
    entries_safe bigint not null check (entries_safe >= files_safe),
    safe_manifest integer,
    unprotected_since timestamptz,
    files_proven bigint not null default 0,
    bytes_proven bigint not null default 0,
    files_stored bigint not null default 0,
    bytes_stored bigint not null default 0,
    unsettled boolean not null default false,
    counted_at timestamptz not null,
    examined_at timestamptz,
    primary key (experiment_id, site_id)
);
comment on table protection is
    'Of the current manifest: its totals, and what of them has receipts. A row for every experiment with a manifest, at every site.';
comment on column protection.safe_manifest is 'The latest manifest that was wholly safe; null before the first.';
comment on column protection.unprotected_since is
    'When the first manifest after the last wholly safe one was sealed; null: counted as wholly safe.';
comment on column protection.files_proven is 'Files that got receipts since the row was last counted, bytes_proven their bytes.';
comment on column protection.files_stored is 'Files there are receipts for, those of earlier manifests too; bytes_stored their bytes.';
comment on column protection.unsettled is 'Whether there are receipts that the bag''s tag files do not list yet.';
comment on column protection.examined_at is 'When what lies in the bag was last compared with what should; null: never.';
-- What is not safe yet are few of many: lists by state read these, and not all that is safe.
create index protection_open on protection (site_id, experiment_id) where entries = entries_safe is false;
-- Nearly all experiments are wholly safe: taken for one in 200, it keeps a page from being read in its order.
-- Asked as `entries = entries_safe is true`, or `is false`: only then are the figures looked at.
create statistics protection_whole on (entries = entries_safe) from protection;

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

-- A site that comes later holds nothing yet of what is known already.
create function protect_at_new_site() returns trigger
    language plpgsql as
$$
begin
    insert into protection (experiment_id, site_id, manifest_no, files, bytes, entries, files_safe, bytes_safe, entries_safe,
                            unprotected_since, counted_at)
    select m.experiment_id, new.site_id, m.manifest_no, m.files, m.bytes, m.files + m.folders + m.links, 0, 0, 0,
           f.sealed_at, new.updated_at
    from manifest m join manifest f on f.experiment_id = m.experiment_id and f.manifest_no = 1
    where not exists (select from manifest l where l.experiment_id = m.experiment_id and l.manifest_no > m.manifest_no);
    return null;
end
$$;
create trigger site_has_protection after insert on site for each row execute function protect_at_new_site();

create table coverage (
    coverage_id bigint generated always as identity primary key,
    experiment_id integer not null references experiment,
    site_id integer not null references site,
    manifest_no integer not null,
    since timestamptz not null,
    until timestamptz not null default 'infinity' check (until >= since),
    unprotected_since timestamptz,
    files bigint not null,
    bytes bigint not null,
    entries bigint not null,
    files_safe bigint not null,
    bytes_safe bigint not null,
    entries_safe bigint not null,
    files_proven bigint not null,
    bytes_proven bigint not null,
    waited_seconds bigint check (waited_seconds >= 0)
);
comment on table coverage is
    'What was safe, and when: an experiment''s totals at a site, from since to until; as fine as manifests are sealed and runs settled.';
comment on column coverage.until is 'Infinity while it holds; set once. Equal to since: it was counted again in the same moment.';
comment on column coverage.files_proven is 'Files that got receipts since the row before; bytes_proven their bytes.';
comment on column coverage.waited_seconds is
    'Where the experiment became wholly safe: how long its oldest unprotected data had waited for that; else null.';

create unique index coverage_open on coverage (experiment_id, site_id) where until = 'infinity';
-- As of a moment: as many rows are read as there are experiments, however long the history is.
create index coverage_during on coverage using gist (tstzrange(since, until));
create index coverage_experiment on coverage (experiment_id, site_id, since);
create index coverage_since on coverage (site_id, since);
create index coverage_waited on coverage (site_id, since) include (experiment_id, waited_seconds)
    where waited_seconds is not null;

create function coverage_only_ends() returns trigger
    language plpgsql as
$$
begin
    if old.until <> 'infinity' or to_jsonb(new) - 'until' <> to_jsonb(old) - 'until' then
        raise exception 'rows of coverage are evidence: nothing in them is changed but their end, once';
    end if;
    return new;
end
$$;
create trigger coverage_only_ends before update on coverage for each row execute function coverage_only_ends();
create trigger coverage_is_append_only before delete or truncate on coverage
    for each statement execute function refuse_change();

-- Whoever counts an experiment's protection is remembered; sums that only grow between two counts are not.
create function remember_coverage() returns trigger
    language plpgsql as
$$
declare
    last coverage;
    at timestamptz;
    proven_files bigint := 0;
    proven_bytes bigint := 0;
begin
    if tg_op = 'UPDATE' then
        proven_files := old.files_proven;
        proven_bytes := old.bytes_proven;
    end if;
    select * into last from coverage
        where experiment_id = new.experiment_id and site_id = new.site_id and until = 'infinity';
    if found and proven_files = 0
       and (last.manifest_no, last.files, last.bytes, last.entries,
            last.files_safe, last.bytes_safe, last.entries_safe, last.unprotected_since)
           is not distinct from (new.manifest_no, new.files, new.bytes, new.entries,
                                 new.files_safe, new.bytes_safe, new.entries_safe, new.unprotected_since) then
        return null;
    end if;
    -- A clock that went back must not end a period before it began.
    at := greatest(new.counted_at, last.since);
    update coverage set until = at where coverage_id = last.coverage_id;
    insert into coverage (experiment_id, site_id, manifest_no, since, unprotected_since, files, bytes, entries, files_safe,
                          bytes_safe, entries_safe, files_proven, bytes_proven, waited_seconds)
    values (new.experiment_id, new.site_id, new.manifest_no, at, new.unprotected_since, new.files, new.bytes, new.entries,
            new.files_safe, new.bytes_safe, new.entries_safe, proven_files, proven_bytes,
            case when new.unprotected_since is null and last.unprotected_since is not null
                 then greatest(0, floor(extract(epoch from at - last.unprotected_since))::bigint) end);
    return null;
end
$$;
create trigger protection_is_remembered after insert or update of counted_at on protection
    for each row execute function remember_coverage();

-- What coverage is asked by. In one place, so that every question groups alike; written so that PostgreSQL puts the
-- expression itself into a query. A dimension that is none gives null, which is one group of everything.
create function group_name(dimension text, project text, experiment text, modality text, scanner text, acquired_month text)
    returns text
    language sql immutable parallel safe
    return case dimension
               when 'PROJECT' then project
               when 'EXPERIMENT' then project || '/' || experiment
               when 'MODALITY' then modality
               when 'SCANNER' then scanner
               when 'MONTH' then acquired_month
           end;

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
