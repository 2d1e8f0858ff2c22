-- A sweep that takes little of each experiment is seen by how many of a project's it has come to.
alter table manifest add column percent_lost smallint not null default 0 check (percent_lost between 0 and 100);
comment on column manifest.percent_lost is
    'How much of the manifest before vanished or has other content, in hundredths of its files and links or of its bytes, whichever is more.';
