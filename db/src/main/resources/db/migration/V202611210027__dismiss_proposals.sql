-- What nobody wants as an experiment, and who said so (ADR 0038).

alter table arrival
    add column dismissed_at timestamptz,
    add column dismissed_by text,
    add column dismissed_reason text check (length(dismissed_reason) between 1 and 500),
    add constraint arrival_dismissed_whole check (num_nulls(dismissed_at, dismissed_by, dismissed_reason) in (0, 3)),
    add constraint arrival_dismissed_proposal check (dismissed_at is null or experiment_id is null),
    add constraint arrival_dismissed_rests check (dismissed_at is null or not waiting);

comment on column arrival.dismissed_at is
    'Since when it is no proposal any more, because somebody said that it is not wanted; null: nobody did.';
comment on column arrival.dismissed_reason is 'That person''s own words, which the ledger has not.';

alter table reconciliation add column items_dismissed bigint not null default 0;
comment on column reconciliation.items_dismissed is
    'Of the told items, those that were dismissed when the run looked: in the origin, not wanted, and not safe.';
