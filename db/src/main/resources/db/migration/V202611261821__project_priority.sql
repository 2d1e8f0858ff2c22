-- The share of a night that a project gets (ADR 0076).

alter table project add column priority integer not null default 10 check (priority between 1 and 100);
comment on column project.priority is
    'Its share of the time that sending takes, compared with the other projects: twice the number is twice the time.';
