-- An audit report says since when its projects have experiments.
create index experiment_registered on experiment (registered_at, project_id);
