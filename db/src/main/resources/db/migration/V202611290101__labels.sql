-- Labels: words by which people find and group experiments. They change nothing about copies (ADR 0099).

create table experiment_label (
    experiment_id integer not null references experiment,
    label text not null check (length(label) between 1 and 50 and label !~ '[[:cntrl:]]'),
    labelled_by text not null check (labelled_by <> ''),
    labelled_at timestamptz not null,
    primary key (experiment_id, label)
);
comment on table experiment_label is 'The labels of an experiment, each with who gave it.';
create index experiment_label_by_label on experiment_label (label);
