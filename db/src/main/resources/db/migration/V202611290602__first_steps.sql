-- A first step that this installation does not need is dismissed by a person, with a reason, and can be reopened.
create table step_dismissal (
    step text primary key check (step ~ '^[a-z]+(-[a-z]+)*$'),
    dismissed_by text not null check (dismissed_by <> ''),
    dismissed_at timestamptz not null,
    reason text not null check (length(reason) between 1 and 500 and reason !~ '[[:cntrl:]]')
);
comment on table step_dismissal is
    'The first steps of an installation that somebody has dismissed. Whether a step is done is stored nowhere: it is read from the facts.';

-- A verification that proves nothing says why, so that a person knows what to do next.
alter table ledger_verification
    add column unproven text check (unproven in ('NO_SITE', 'NOT_COMPARED', 'NO_ANCHOR')),
    add column unproven_sites text[] not null default '{}',
    add check (unproven is null or verdict = 'INCOMPLETE');
comment on column ledger_verification.unproven is
    'Why an INCOMPLETE one proves less than all: there is no site, a site could not be compared, or a site has no matching anchor. '
    'Null: the verdict is another one, or it is from before this was recorded.';
comment on column ledger_verification.unproven_sites is 'The names of those sites.';
