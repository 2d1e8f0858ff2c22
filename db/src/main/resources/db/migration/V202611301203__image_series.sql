-- Which images of its series an experiment has, by the numbers that DICOM files have: read when they are read to be sent.
create table image_series (
    image_series_id bigint generated always as identity primary key,
    experiment_id integer not null references experiment,
    series_uid text not null check (series_uid <> ''),
    number integer,
    description text not null,
    instance_numbers int4multirange not null check (not isempty(instance_numbers))
);
comment on table image_series is
    'A row for each series in a transfer unit: not for each file. Numbers of files that were deleted or changed since stay.';
comment on column image_series.number is 'Null: the files do not say it.';
create index image_series_of on image_series (experiment_id);
create trigger image_series_is_evidence before update or truncate on image_series
    for each statement execute function refuse_change();
create trigger image_series_is_erased before delete on image_series
    for each row execute function refuse_unless_erased();
