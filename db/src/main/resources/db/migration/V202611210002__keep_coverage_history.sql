-- Coverage is asked by what an experiment was acquired with and when, and as it was at a moment in the past (ADR 0020).
-- It is answered from kept totals: protection as it is now, coverage as it was. Neither is ever summed from entries.

alter table experiment
    add column modality text check (modality ~ '^[A-Z0-9_]{1,16}$'),
    add column scanner text check (scanner ~ '^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$'),
    add column acquired_on date check (acquired_on between '1900-01-01' and '9999-12-31'),
    add column acquired_month text generated always as
        (extract(year from acquired_on)::text || '-' || lpad(extract(month from acquired_on)::text, 2, '0')) stored;
comment on column experiment.modality is 'As DICOM codes it: MR, MEG, EEG; null: unknown.';
comment on column experiment.scanner is 'An opaque code; null: unknown.';
comment on column experiment.acquired_on is 'The day of the visit, by the calendar where it was; null: unknown.';

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

-- What coverage is made of stands in one row: the current manifest's totals beside what of them has receipts.
alter table protection rename column files to files_safe;
alter table protection rename column bytes to bytes_safe;
alter table protection rename column entries to entries_safe;
alter table protection
    add column manifest_no integer,
    add column files bigint,
    add column bytes bigint,
    add column entries bigint,
    add column unprotected_since timestamptz,
    add column files_proven bigint not null default 0,
    add column bytes_proven bigint not null default 0;
comment on table protection is
    'Of the current manifest: its totals, and what of them has receipts. A row for every experiment with a manifest, at every site.';
comment on column protection.unprotected_since is
    'When the first manifest after the last wholly safe one was sealed; null: counted as wholly safe.';
comment on column protection.files_proven is 'Files that got receipts since the row was last counted, bytes_proven their bytes.';

insert into protection (experiment_id, site_id, files_safe, bytes_safe, entries_safe, counted_at)
select e.experiment_id, s.site_id, 0, 0, 0, now()
from experiment e cross join site s
where exists (select from manifest m where m.experiment_id = e.experiment_id)
on conflict do nothing;
update protection p
    set manifest_no = m.manifest_no, files = m.files, bytes = m.bytes, entries = m.files + m.folders + m.links,
        unprotected_since =
            case when p.entries_safe < m.files + m.folders + m.links
                 then (select coalesce(min(u.sealed_at), m.sealed_at) from manifest u
                       where u.experiment_id = m.experiment_id and u.manifest_no = coalesce(p.safe_manifest, 0) + 1) end
    from manifest m
    where m.experiment_id = p.experiment_id
      and m.manifest_no = (select max(manifest_no) from manifest where experiment_id = p.experiment_id);
alter table protection
    alter column manifest_no set not null,
    alter column files set not null,
    alter column bytes set not null,
    alter column entries set not null;

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

-- What is known of the past begins here; Coverage says so where it is asked for more.
update protection set counted_at = now();

-- What changed between two dates is found by when it was.
create index manifest_sealed on manifest (sealed_at)
    include (experiment_id, entries_new, entries_changed, entries_gone);
create index finding_found on finding (found_at) include (experiment_id, run_id);

-- The evidence for one entry: of an experiment's receipts only those are read that can have its number between their
-- lowest and highest. Functions, because the array's order is nobody's promise.
create function lowest_of(numbers integer[]) returns integer
    language sql immutable parallel safe
    return (select min(n) from unnest(numbers) as t (n));
create function highest_of(numbers integer[]) returns integer
    language sql immutable parallel safe
    return (select max(n) from unnest(numbers) as t (n));
create index receipt_span on receipt (experiment_id, site_id, lowest_of(entry_nos), highest_of(entry_nos));
drop index receipt_experiment;
-- Which entries had a name in a folder: the one and its earlier versions.
create index if not exists entry_directory on entry (experiment_id, directory_no);
