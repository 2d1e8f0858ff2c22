-- What content said is in the records of experiments (ADR 0069), so that it survives the loss of the centre.
alter table catalogue_segment add column content_id bigint not null default 0 check (content_id >= 0);
alter table catalogue_segment alter column content_id drop default;
comment on column catalogue_segment.content_id is 'The highest number of a row of content. In earlier records there was none.';
