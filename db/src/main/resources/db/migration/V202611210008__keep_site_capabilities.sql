-- What a look at a site found it can do (ADR 0027): a row for each time that it was another than before. Nothing is decided by
-- these rows: each run looks anew. They tell people what changed at a site, and when.

create table site_capability (
    site_capability_id bigint generated always as identity primary key,
    site_id integer not null references site,
    first_seen_at timestamptz not null,
    last_seen_at timestamptz not null,
    server text not null,
    digest text not null check (digest ~ '^[a-z]'),
    digest_bytes_per_second double precision not null
        check (digest_bytes_per_second >= 0 and digest_bytes_per_second < 'infinity'),
    syncs_at_once boolean not null,
    cache_tool text,
    rename_keeps boolean not null,
    names_are_bytes boolean not null,
    extensions text[] not null,
    clock_ahead_seconds bigint
);

comment on table site_capability is
    'What a site was found to be able to do, as long as nothing of it changed; the last row of a site is what holds.';
comment on column site_capability.digest is 'How digests are computed there, as in receipts. The command may change in a row, the kind may not.';
comment on column site_capability.digest_bytes_per_second is 'As last measured, from the site''s memory; 0: not measured.';
comment on column site_capability.cache_tool is 'What has the site''s memory forget files; null: nothing does, reads there are warm.';
comment on column site_capability.clock_ahead_seconds is 'How far the site''s clock was ahead of ours when it was last looked at.';

create index site_capability_site on site_capability (site_id, site_capability_id desc);
