-- What was typed of an experiment can be corrected, and more can be said of it: whose visit it was, by a code, and a note.

alter table experiment
    add column subject text check (subject ~ '^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$'),
    add column note text not null default '' check (length(note) <= 500 and note !~ '[[:cntrl:]]');
comment on column experiment.subject is 'The pseudonymous code of the person who was examined; null: unknown.';
comment on column experiment.note is 'What people want to remember of it, in one line.';

create index experiment_subject on experiment (lower(subject) text_pattern_ops, experiment_id) where subject is not null;
