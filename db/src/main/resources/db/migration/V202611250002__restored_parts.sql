-- A restore can be of one folder or file of a manifest.

alter table restore add column part bytea not null default '' check (octet_length(part) <= 65536);
comment on column restore.part is 'The path of the folder or file that is restored; empty for everything.';
