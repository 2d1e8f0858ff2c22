-- The last verification of the ledger, so that a broken one can be told to people and on pages.
create table ledger_check (
    number integer primary key default 1 check (number = 1),
    checked_at timestamptz not null,
    verdict text not null check (verdict in ('INTACT', 'INCOMPLETE', 'BROKEN')),
    rows bigint not null check (rows >= 0),
    breaches bigint not null check (breaches >= 0)
);
comment on table ledger_check is 'One row: the last verification of the whole ledger, by the daily check or by a person.';
