-- A newer fact ends a finding about a site or a run, before a run completes and supersedes it (ADR 0030).
alter table finding add column superseded_at timestamptz;
comment on column finding.superseded_at is
    'When a newer fact ended it: the site could be used, or a file was stored there; null: superseded_by ended it at its end.';

-- A unit fails if one of its entries gets no receipt; the others are verified nevertheless, and a run's progress counts them.
alter table transfer_unit
    add column bytes_proven bigint not null default 0 check (bytes_proven >= 0),
    add column entries_proven integer not null default 0 check (entries_proven >= 0);
comment on column transfer_unit.bytes_proven is 'Of a failed unit, the bytes of its entries that got a receipt; of any other, 0.';
comment on column transfer_unit.entries_proven is 'How many entries these are.';
