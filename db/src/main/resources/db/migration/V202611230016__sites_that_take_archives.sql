-- Unknown for sites that were checked before; the next check sets it.
alter table site_capability add column unpacks_tar boolean not null default false;
alter table site_capability alter column unpacks_tar drop default;
comment on column site_capability.unpacks_tar is 'Whether a tar there unpacks what it is fed, so that files can be sent as archives.';
