-- The ledger is asked for what happened to something, for what was done, and for when (ADR 0026); always in its own order.
create index ledger_subject on ledger (subject, seq);
create index ledger_action on ledger (action, seq);
create index ledger_at on ledger (at);
