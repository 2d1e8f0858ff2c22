-- Whether an experiment is at risk is asked for each one of a page, and of a search for all of them: what stands of it and why
-- has to be known without reading what stood once.
create index finding_standing_experiment on finding (experiment_id, reason) where superseded_by is null;
analyze finding;
