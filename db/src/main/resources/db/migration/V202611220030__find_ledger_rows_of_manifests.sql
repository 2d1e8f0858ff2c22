-- The rows about an experiment's manifests (P1/E1#3) are found by the experiment's name (P1/E1).
create index ledger_subject_of_manifest on ledger (regexp_replace(subject, '#[0-9]+$', '')) where subject ~ '#[0-9]+$';
