-- A restore can be into the source of the experiment. What stands there and differs is put aside, never overwritten (ADR 0049).

alter table restore
    add column in_place boolean not null default false,
    add column aside bytea check (octet_length(aside) between 1 and 4096),
    add constraint restore_aside_in_place check (in_place or aside is null);
comment on column restore.in_place is 'Whether the folder is the source of the experiment.';
comment on column restore.aside is 'The folder for what is put aside. Null: not in place, or nothing was.';
