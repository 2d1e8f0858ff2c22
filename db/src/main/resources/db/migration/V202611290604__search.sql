-- Search: experiments by what is known of them, and files by parts of their names (ADR 0104).

-- The form in which text is compared (class Folded).
create function folded(text) returns text
    language sql immutable parallel safe
    return lower(normalize($1, nfkc));

-- What is searched of an experiment. Lower case once, and not for each row of each search.
alter table experiment add column words text generated always as (
    folded(
        code || ' ' || title || ' ' || coalesce(subject, '') || ' ' || coalesce(scanner, '') || ' ' || coalesce(modality, '') || ' '
        || coalesce(extract(year from acquired_on)::text || '-' || lpad(extract(month from acquired_on)::text, 2, '0') || '-'
                    || lpad(extract(day from acquired_on)::text, 2, '0'), '')
        || ' ' || note)) stored;
comment on column experiment.words is 'Code, title, subject, scanner, modality, day and note in lower case and one form, for searches.';

-- A row for a few thousand entries that were numbered one after the other. It says only where a name can be: the name itself is read
-- from entry. So nothing here is ever wrong about an entry that ended or was erased.
create table name_block (
    experiment_id integer not null references experiment on delete cascade,
    first_entry_no integer not null,
    last_entry_no integer not null check (last_entry_no >= first_entry_no),
    entries integer not null check (entries > 0),
    grams smallint[] not null,
    primary key (experiment_id, first_entry_no)
);
comment on table name_block is 'Which parts of names the entries with these numbers have, whether they hold or ended.';
comment on column name_block.grams is
    'Each three bytes that follow each other in their paths, in lower case, and each four that are not only digits; hashed '
    '(class Folded).';
-- The arrays are only read while they are indexed. Outside of the rows, they do not make a search's rows longer.
alter table name_block set (toast_tuple_target = 128);
create index name_block_grams on name_block using gin (grams) with (gin_pending_list_limit = 1024);

create table unlisted_manifest (
    experiment_id integer not null references experiment on delete cascade,
    manifest_no integer not null,
    primary key (experiment_id, manifest_no)
);
comment on table unlisted_manifest is
    'Manifests whose new entries no name_block has yet. A search reads the names of these entries themselves, or says that it did not.';

-- In the transaction that seals: no entry is ever in neither of the two tables.
create function leave_unlisted() returns trigger
    language plpgsql as
$$
begin
    insert into unlisted_manifest values (new.experiment_id, new.manifest_no);
    return null;
end
$$;
create trigger manifest_is_unlisted after insert on manifest for each row execute function leave_unlisted();
insert into unlisted_manifest select experiment_id, max(manifest_no) from manifest group by experiment_id;

-- What is found by words, but files: a row for each, with what it is called, what else is known of it, and the page that shows it.
create view findable as
select 'EXPERIMENT' as kind, e.experiment_id::bigint as id, p.code as project, lower(e.code) as code,
       lower(p.code) || '/' || e.words || coalesce(' ' || l.labels, '') as words, p.code || '/' || e.code as name,
       concat_ws(' · ', nullif(e.title, ''), e.subject, e.modality, e.scanner, e.acquired_on) as about, null as experiment,
       e.retired_at is not null as over, '/experiments/' || p.code || '/' || e.code as address
from experiment e join project p using (project_id)
left join (select experiment_id, folded(string_agg(label, ' ')) as labels from experiment_label group by experiment_id) l
     using (experiment_id)
union all
select 'PROJECT', p.project_id::bigint, p.code, lower(p.code), folded(p.code || ' ' || p.title), p.code, p.title, null,
       p.retired_at is not null, '/administration/projects/' || p.code
from project p
union all
select 'FINDING', f.finding_id, p.code, null, folded(concat_ws(' ', f.reason, p.code || '/' || e.code, f.message)), f.reason, f.message,
       p.code || '/' || e.code, a.finding_id is not null or is_over(e.retired_at, r.kind, s.removed_at),
       '/findings?all=true&reason=' || f.reason || coalesce('&experiment=' || p.code || '/' || e.code, '')
from finding f join run r using (run_id) join site s on s.site_id = r.site_id
left join experiment e using (experiment_id) left join project p using (project_id) left join acknowledgement a using (finding_id)
where f.superseded_by is null
union all
select 'USER', u.user_id::bigint, null, lower(u.name), lower(u.name), u.name,
       coalesce((select string_agg(role, ', ' order by role) from user_role o where o.user_id = u.user_id), ''), null,
       u.disabled or u.gone, '/administration/users/' || u.name
from dozo_user u;
comment on view findable is 'What a search finds by words, but files; findings only if they stand.';
comment on column findable.project is 'Who sees it sees the row; null: belongs to none.';
comment on column findable.words is 'What is searched, in lower case.';
