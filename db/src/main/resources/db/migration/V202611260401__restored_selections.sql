-- A restore can be of several folders and files, and of what matches patterns.

alter table restore
    add column paths bytea[] not null default '{}' check (cardinality(paths) <= 10000),
    add column patterns bytea[] not null default '{}' check (cardinality(patterns) <= 100);
update restore set paths = array[part] where part <> ''::bytea;
alter table restore drop column part;
comment on column restore.paths is 'The folders and files that are restored; with no path and no pattern, everything is.';
comment on column restore.patterns is 'Patterns (class PathPattern): what matches one is restored, too.';
