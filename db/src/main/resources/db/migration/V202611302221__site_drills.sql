-- Drills of the loss of everything but a site (ADR 0112): a catalogue rebuilt from there, compared, and restored from.

create table site_drill (
    drill_id bigint generated always as identity primary key,
    site_id integer not null references site,
    state text not null default 'RUNNING' check (state in ('RUNNING', 'COMPLETE', 'FINDINGS', 'FAILED', 'BROKEN_OFF')),
    keyed boolean not null,
    lists_only boolean not null,
    scratch text not null check (scratch ~ '^site-drill-[0-9a-f-]{36}$'),
    requested_by text not null,
    requested_at timestamptz not null,
    ended_at timestamptz,
    evidence jsonb not null default '{}',
    message text not null default '',
    check ((ended_at is null) = (state = 'RUNNING')),
    check (state <> 'COMPLETE' or coalesce((evidence ->> 'differences')::bigint = 0, false))
);
comment on table site_drill is
    'Drills of the loss of everything but a site. Evidence: a row is changed once, when its drill ends.';
comment on column site_drill.keyed is 'Whether somebody gave the recovery key. It is stored nowhere.';
comment on column site_drill.lists_only is 'Whether the site computed no digests of copies.';
comment on column site_drill.scratch is 'The folder below that for drills, removed before the end.';
comment on column site_drill.evidence is
    'What was measured: times, amounts, the forecast for everything, and the first differences. Empty until the end.';
create unique index site_drill_open on site_drill (site_id) where ended_at is null;
create index site_drill_of_site on site_drill (site_id, drill_id);

create function site_drill_is_evidence() returns trigger
    language plpgsql as
$$
begin
    if tg_op = 'DELETE' or old.ended_at is not null then
        raise exception 'rows of % are evidence: they are appended, never changed or removed', tg_table_name;
    end if;
    return new;
end
$$;
create trigger site_drill_is_evidence before update or delete on site_drill
    for each row execute function site_drill_is_evidence();
create trigger site_drill_is_kept before truncate on site_drill
    for each statement execute function refuse_change();
