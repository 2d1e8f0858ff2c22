-- Two Dozos back each other up (ADR 0116): what each gives to the other, as the two files that they exchange say it.

create table partner (
    name text primary key check (name ~ '^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$'),
    offered text check (length(offered) <= 65536),
    count_file text check (length(count_file) <= 4096),
    accepted text check (length(accepted) <= 65536),
    site_id integer unique references site on delete set null,
    check ((offered is null) = (count_file is null)),
    check (site_id is null or accepted is not null)
);
comment on table partner is 'Centres that keep copies of ours, and whose copies we keep.';
comment on column partner.name is 'Its name in Dozo, which is also that of its site.';
comment on column partner.offered is 'Our last file for it: our keys, and what it may use here; null: none was made.';
comment on column partner.count_file is 'The file on this machine in which the guard counts what the partner stores.';
comment on column partner.accepted is 'Its last file that was accepted; null: none was.';
comment on column partner.site_id is 'The site that was registered by its file. Only experiments with codes for names are sent there.';
