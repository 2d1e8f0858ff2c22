-- Two sites must not share a folder: each puts its mark into its root, and is refused where another's is.
alter table site add column mark uuid not null default gen_random_uuid() unique;
comment on column site.mark is 'The random number in the file .dozo/site of its root.';
