-- Below which folders a project's sources lie, and which sources were found to lie there (ADR 0031).

alter table project
    add column source_roots bytea[] not null default '{}' check (cardinality(source_roots) <= 100);
comment on column project.source_roots is
    'Folders of the service''s machine, as they were said. Below them who sees only some projects may register.';

alter table experiment
    add column source_bound boolean not null default false,
    add column list_bound boolean not null default false check (list_file is not null or not list_bound);
comment on column experiment.source_bound is
    'The source lay below a root of the project when it was registered. source_root is then without links, and it is opened '
    'without following any. Not taken back when the roots change.';
comment on column experiment.list_bound is 'The same of list_file.';
