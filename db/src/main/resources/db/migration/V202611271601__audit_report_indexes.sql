-- An audit report on everything reads every receipt and every reading once, in the order of receipts, and no digests (ADR 0091).
create index receipt_known on receipt (site_id, receipt_id) include (experiment_id, verified_at, method);
drop index reading_receipt;
create index reading_receipt on reading (receipt_id, reading_id) include (read_at);

-- Whether the times of the ledger are in the order of its numbers is known from the rows about one moment: a block of rows whose
-- times are all earlier, or all later, is not read.
create index ledger_order on ledger using brin (seq, at) with (pages_per_range = 8, autosummarize = on);
