create table found_copy (
    found_id bigint generated always as identity primary key,
    experiment_id integer not null references experiment,
    site_id integer not null references site,
    manifest_no integer not null check (manifest_no >= 1),
    entry_nos integer[] not null check (cardinality(entry_nos) >= 1),
    digests bytea not null,
    check (octet_length(digests) = 32 * cardinality(entry_nos))
);
comment on table found_copy is
    'What the lists of a site claim to be there, in a catalogue that was rebuilt, until it is verified: then a receipt replaces the row.';
comment on column found_copy.manifest_no is 'As of receipt.manifest_no: the manifest under whose number replaced copies are stored.';
create index found_copy_experiment on found_copy (experiment_id, site_id, found_id);
