-- A session keeps the plan it made when the ledger was small. One that reads all of it would be quadratic where 100,000 rows are
-- appended in one transaction, as on the first day of a centre.
alter function ledger_append() set enable_seqscan = off;
