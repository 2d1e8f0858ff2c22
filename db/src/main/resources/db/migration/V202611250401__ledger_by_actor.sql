-- An auditor asks what a user did. Rows of somebody who did little would otherwise be searched in the whole ledger.
create index ledger_actor on ledger (actor, seq);
