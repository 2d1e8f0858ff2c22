-- Search: experiments by what is known of them, and files by parts of their names (ADR 0104).

-- What is searched of an experiment. Lower case once, and not for each row of each search.
alter table experiment add column words text generated always as (
    lower(normalize(
        code || ' ' || title || ' ' || coalesce(subject, '') || ' ' || coalesce(scanner, '') || ' ' || coalesce(modality, '') || ' '
        || coalesce(extract(year from acquired_on)::text || '-' || lpad(extract(month from acquired_on)::text, 2, '0') || '-'
                    || lpad(extract(day from acquired_on)::text, 2, '0'), '')
        || ' ' || note, nfkc))) stored;
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
    '(class Grams).';
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
