-- What an experiment's source holds can be read from a list that something else made, in place of a walk.

alter table experiment
    add column list_file bytea check (octet_length(list_file) between 1 and 4096),
    add column list_form text check (list_form in ('find', 'policy')),
    add check ((list_file is null) = (list_form is null));
comment on column experiment.list_file is 'Where the list lies on the service''s machine; null: the source is walked.';
comment on column experiment.list_form is 'What wrote the list: GNU find, or a policy of IBM Storage Scale.';
