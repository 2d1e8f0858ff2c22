-- What a series weighs: its files of the current manifest, each once, however often they were read.
alter table image_series add column entry_nos int4multirange check (not isempty(entry_nos));
comment on column image_series.entry_nos is 'The entries with these images. Null: recorded before this column.';
