-- What the bytes of files say of whether they are whole: judged when they are read to be sent. Entries in no row are unknown.
create table content (
    content_id bigint generated always as identity primary key,
    experiment_id integer not null references experiment,
    state text not null check (state in ('WHOLE', 'SUSPECT', 'BROKEN')),
    format text not null check (format <> ''),
    why text not null check ((why = '') = (state = 'WHOLE')),
    entry_nos integer[] not null check (cardinality(entry_nos) >= 1),
    judged_at timestamptz not null
);
comment on table content is
    'Entries whose content was judged by the rules of its format. Unknown ones have no row; one that was read for two sites can have two.';
comment on column content.state is
    'WHOLE: all rules hold. BROKEN: one fails that holds in every healthy file. SUSPECT: healthy files look like this, too.';
comment on column content.format is 'For people, such as DICOM, or NIfTI-1 in gzip.';
comment on column content.why is 'What is wrong, for people; empty if nothing is.';
create index content_of on content (experiment_id);
create trigger content_is_evidence before update or truncate on content
    for each statement execute function refuse_change();
create trigger content_is_erased before delete on content
    for each row execute function refuse_unless_erased();
