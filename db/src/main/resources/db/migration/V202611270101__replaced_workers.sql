-- Others take over from a worker that does not renew its lease: people see that it was replaced, and has not left (ADR 0080).

alter table run_worker add column replaced boolean not null default false;
comment on column run_worker.replaced is 'Its lease had expired, and others have taken over what it had claimed: worker.replaced in the ledger';
