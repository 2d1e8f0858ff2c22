-- A scrub also reads what Dozo wrote for itself at the sites (ADR 0023). Anchors need no digest here: the ledger has their content.

create table own_file (
    site_id integer not null references site,
    path bytea not null,
    experiment_id integer references experiment,
    digest bytea not null check (octet_length(digest) = 32),
    primary key (site_id, path)
);
comment on table own_file is 'Records of the catalogue and replaced tag files at each site.';
comment on column own_file.experiment_id is 'Null: a base record.';
comment on column own_file.digest is 'SHA-256 of what was written; if that was not known, of what a scrub read first.';
create index own_file_experiment on own_file (experiment_id, site_id);

insert into own_file (site_id, path, experiment_id, digest)
select c.site_id, convert_to('.dozo/catalogue/' || p.code || '/' || e.code || '/' || c.number || '.age', 'UTF8'), c.experiment_id, c.digest
from catalogue_segment c join experiment e using (experiment_id) join project p using (project_id)
union all
select site_id, convert_to('.dozo/catalogue/' || number || '.age', 'UTF8'), null, digest from catalogue_base;
