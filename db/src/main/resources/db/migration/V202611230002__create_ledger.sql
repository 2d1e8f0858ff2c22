-- The ledger: what happened, who did it, in the same transaction as the change itself (design, section 11).
-- Its rows are chained: each hash covers the row and the hash before it, so an edit, a removal or a swap shows.

create table ledger (
    seq bigint primary key,
    at timestamptz not null,
    actor text not null check (actor <> ''),
    action text not null check (action ~ '^[a-z]+\.[a-z]+$'),
    subject text not null,
    detail jsonb not null default '{}',
    hash bytea not null check (octet_length(hash) = 32)
);

comment on table ledger is 'What happened to everything: append-only, hash-chained.';

-- The ledger is asked for what happened to something, for what was done, and for when (ADR 0026); always in its own order.
create index ledger_subject on ledger (subject, seq);
create index ledger_action on ledger (action, seq);
create index ledger_at on ledger (at);
-- The rows about an experiment's manifests (P1/E1#3) are found by the experiment's name (P1/E1).
create index ledger_subject_of_manifest on ledger (regexp_replace(subject, '#[0-9]+$', '')) where subject ~ '#[0-9]+$';

-- The bytes a row's hash is taken over. Fields are joined by the unit separator after their lengths, so that no two
-- rows can give the same text. Whoever checks the chain with other means repeats just this.
create function ledger_hash(previous bytea, row_seq bigint, row_at timestamptz, row_actor text, row_action text,
                            row_subject text, row_detail jsonb) returns bytea
    language sql immutable
    return sha256(previous || convert_to(
        row_seq || E'\x1f' || to_char(row_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
        || E'\x1f' || length(row_actor) || ':' || row_actor
        || E'\x1f' || row_action
        || E'\x1f' || length(row_subject) || ':' || row_subject
        || E'\x1f' || row_detail::text, 'UTF8'));

-- A session keeps the plan it made when the ledger was small. One that reads all of it would be quadratic where 100,000 rows are
-- appended in one transaction, as on the first day of a centre: so the last row is found by its number.
create function ledger_append() returns trigger
    language plpgsql set enable_seqscan = off as
$$
declare
    last_seq bigint;
    last_hash bytea;
begin
    -- One writer at a time, until its transaction ends: the chain has no forks and no gaps.
    perform pg_advisory_xact_lock(hashtext('dozo.ledger'));
    select seq, hash into last_seq, last_hash from ledger order by seq desc limit 1;
    new.seq := coalesce(last_seq, 0) + 1;
    new.hash := ledger_hash(coalesce(last_hash, ''::bytea), new.seq, new.at, new.actor, new.action, new.subject,
                            new.detail);
    return new;
end
$$;

create trigger ledger_append before insert on ledger for each row execute function ledger_append();

create function refuse_change() returns trigger
    language plpgsql as
$$
begin
    raise exception 'rows of % are evidence: they are appended, never changed or removed', tg_table_name;
end
$$;

create trigger ledger_is_append_only before update or delete or truncate on ledger
    for each statement execute function refuse_change();
