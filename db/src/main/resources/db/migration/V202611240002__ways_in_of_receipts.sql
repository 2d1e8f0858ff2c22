-- Unknown for earlier receipts.
alter table receipt add column way_in text check (way_in in ('archive', 'sftp'));
comment on column receipt.way_in is 'How the content came to the site: in an archive that a tar there unpacked, or by SFTP.';
