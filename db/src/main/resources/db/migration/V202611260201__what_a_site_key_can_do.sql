-- What somebody who steals a site's key could do to stored files (ADR 0068). Unknown for sites that were checked before; the next
-- check tries it.
alter table site_capability add column key_could text[] not null default '{}';
alter table site_capability add column key_could_not text[] not null default '{}';
alter table site_capability alter column key_could drop default;
alter table site_capability alter column key_could_not drop default;
alter table site_capability add check (not key_could && key_could_not);
comment on column site_capability.key_could is 'What was possible with the site''s key when it was tried: READ, ADD, CHANGE, RENAME, REPLACE, DELETE.';
comment on column site_capability.key_could_not is 'What the site refused. What is in neither list is unknown.';
