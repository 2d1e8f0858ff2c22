-- An audit report on a project lists its certificates without those of all others (ADR 0091).
create index ledger_certificate on ledger (split_part(subject, '/', 1), seq desc) include (at) where action = 'certificate.issued';
