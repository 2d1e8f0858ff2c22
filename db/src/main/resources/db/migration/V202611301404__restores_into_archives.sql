-- Restores into archives: DICOM instances go to a registered origin, and no folder is filled.

alter table restore alter column folder drop not null;

create table archive_restore (
    restore_id bigint primary key references restore,
    origin text not null,
    replaces boolean not null,
    studies bigint not null default 0 check (studies >= 0),
    series bigint not null default 0 check (series >= 0),
    sent bigint not null default 0 check (sent >= 0),
    found_equal bigint not null default 0 check (found_equal >= 0),
    differing bigint not null default 0 check (differing >= 0),
    not_sent bigint not null default 0 check (not_sent >= 0)
);
comment on table archive_restore is 'Which restores go into archives, and how many instances the archive has since.';
comment on column archive_restore.origin is 'The name of the origin that the archive is registered as.';
comment on column archive_restore.replaces is 'Whether the archive may replace instances that have other bytes.';
comment on column restore.folder is 'The folder that is filled, of the service''s machine, without links; null: an archive is.';
