-- Restores into a Flywheel create containers with new ids: asked twice, they find them again.

create table flywheel_restored (
    origin_id integer not null references origin,
    kind text not null check (kind in ('project', 'subject', 'session', 'acquisition', 'analysis')),
    old_id text not null check (length(old_id) between 1 and 128),
    new_id text not null check (length(new_id) between 1 and 128),
    primary key (origin_id, kind, old_id),
    unique (origin_id, kind, new_id)
);
comment on table flywheel_restored is 'Which containers of a Flywheel were restored as which others.';
comment on column flywheel_restored.origin_id is 'The origin that they were restored into.';
comment on column flywheel_restored.kind is 'project, subject, session, acquisition or analysis.';
comment on column flywheel_restored.old_id is 'The id that was backed up.';
comment on column flywheel_restored.new_id is 'The id in the Flywheel that was restored into; the same if it was still there.';
