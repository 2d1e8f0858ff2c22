-- People call a site and a scanner by titles that may change over the years; their codes, which name folders and evidence, stay.
alter table site add column title text not null default '' check (length(title) <= 200);
comment on column site.title is 'By what people know it, in one line; empty: only by its name.';
alter table scanner add column title text not null default '' check (length(title) <= 200);
comment on column scanner.title is 'By what people know it, in one line; empty: only by its code.';
