-- A header says of the files that belong to it how much data they have. They may come or change later, when nobody reads the header.
create table companions (
    experiment_id integer not null references experiment,
    entry_no integer not null,
    format text not null check (format <> ''),
    names bytea[] not null check (cardinality(names) >= 1),
    head_bytes integer not null check (head_bytes >= 0),
    data_bytes bigint not null check (data_bytes >= 0),
    unit_bytes bigint not null check (unit_bytes >= 0),
    if_missing text not null check (if_missing in ('SUSPECT', 'BROKEN')),
    primary key (experiment_id, entry_no)
);
comment on table companions is 'What headers that are whole by themselves say of other files in their folders.';
comment on column companions.names is 'Of the parts, as far as they exist, or of the packed file.';
comment on column companions.head_bytes is 'At the begin of each part: no data.';
comment on column companions.unit_bytes is 'Of a trial or the like: there may be fewer whole ones. 0: all is needed.';
comment on column companions.if_missing is 'What the header is if none of the files exists.';
