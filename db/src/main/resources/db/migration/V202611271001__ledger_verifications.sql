-- Verifications of the ledger are kept, so that a report can say when the last one was and what it found (ADR 0091).

create table ledger_verification (
    verification_id bigint generated always as identity primary key,
    began_at timestamptz not null,
    verdict text not null check (verdict in ('INTACT', 'INCOMPLETE', 'BROKEN')),
    rows_checked bigint not null check (rows_checked >= 0),
    breaches bigint not null check (breaches >= 0)
);
comment on table ledger_verification is
    'What each verification of the ledger found: every row by its hash, and the rows against the anchors at the sites.';
comment on column ledger_verification.began_at is 'Later rows may not have been checked.';
comment on column ledger_verification.rows_checked is 'The number of rows; all were checked.';
comment on column ledger_verification.breaches is 'Of the rows, the guards and the anchors at all sites.';
create trigger ledger_verification_is_evidence before update or delete or truncate on ledger_verification
    for each statement execute function refuse_change();
