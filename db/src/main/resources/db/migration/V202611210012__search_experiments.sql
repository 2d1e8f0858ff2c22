-- Experiments are searched by their words, their project, and what they were acquired with and when (ADR 0029).

create index experiment_project on experiment (project_id, experiment_id);
create index experiment_scanner on experiment (scanner, experiment_id);
create index experiment_modality on experiment (modality, experiment_id);
create index experiment_acquired on experiment (acquired_on, experiment_id);

-- Words in the middle are found by groups of three letters. Without the extension, which a server may not have or not let us
-- have, the same search reads all experiments.
do
$$
begin
    create extension if not exists pg_trgm;
    create index experiment_words on experiment using gin (lower(code || ' ' || title) gin_trgm_ops);
exception
    when insufficient_privilege or feature_not_supported or undefined_file or undefined_object then
        raise notice 'pg_trgm cannot be used, so experiments are searched one by one: %', sqlerrm;
end
$$;
