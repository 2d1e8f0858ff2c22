-- Retention holds: while one stands, nothing about an experiment is forgotten or erased (ADR 0095).

create table hold (
    hold_id bigint generated always as identity primary key,
    project_id integer not null references project,
    experiment_id integer references experiment,
    reason text not null check (length(reason) between 1 and 500 and reason !~ '[[:cntrl:]]'),
    placed_by text not null check (placed_by <> ''),
    placed_at timestamptz not null,
    until timestamptz check (until > placed_at),
    ended_at timestamptz,
    ended_by text,
    end_reason text check (length(end_reason) between 1 and 500 and end_reason !~ '[[:cntrl:]]'),
    check (num_nulls(ended_at, ended_by, end_reason) in (0, 3))
);
comment on table hold is 'Who wants nothing to be forgotten or erased of an experiment or a project, why, and how long.';
comment on column hold.experiment_id is 'Null: all experiments of the project, also those that are registered later.';
comment on column hold.until is 'From then on it does not stand any more; null: until somebody ends it.';
create index hold_open on hold (project_id) where ended_at is null;

create function hold_only_ends() returns trigger
    language plpgsql as
$$
begin
    if old.ended_at is not null
       or to_jsonb(new) - '{ended_at,ended_by,end_reason}'::text[] <> to_jsonb(old) - '{ended_at,ended_by,end_reason}'::text[] then
        raise exception 'rows of hold are evidence: nothing in them is changed but their end, once';
    end if;
    return new;
end
$$;
create trigger hold_only_ends before update on hold for each row execute function hold_only_ends();
create trigger hold_is_append_only before delete or truncate on hold for each statement execute function refuse_change();

-- Whether an experiment is held is asked here and nowhere else.
create function standing_hold(an_experiment integer, moment timestamptz) returns bigint
    language sql stable
    return (select min(h.hold_id) from hold h join experiment e on e.project_id = h.project_id
            where e.experiment_id = an_experiment and (h.experiment_id is null or h.experiment_id = an_experiment)
              and h.ended_at is null and (h.until is null or h.until > moment));
comment on function standing_hold is 'The first hold that stands on an experiment at a moment; null: none does.';

create view audit.hold with (security_barrier) as
select p.code as project, e.code as experiment, h.hold_id as hold, h.reason, h.placed_by, h.placed_at, h.until, h.ended_at, h.ended_by,
       h.end_reason
from hold h join audit_project p using (project_id) left join experiment e on e.experiment_id = h.experiment_id;
comment on view audit.hold is 'Retention holds: while one stands, nothing about an experiment is forgotten or erased';
comment on column audit.hold.project is 'The project''s code';
comment on column audit.hold.experiment is 'The experiment''s code; null: all of the project';
comment on column audit.hold.hold is 'Its number';
comment on column audit.hold.reason is 'Why';
comment on column audit.hold.placed_by is 'The user';
comment on column audit.hold.placed_at is 'When it was placed';
comment on column audit.hold.until is 'From then on it does not stand any more; null: until somebody ends it';
comment on column audit.hold.ended_at is 'When somebody ended it; null: nobody has';
comment on column audit.hold.ended_by is 'Who';
comment on column audit.hold.end_reason is 'Why it was ended';
