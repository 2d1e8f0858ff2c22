-- A site may keep digests instead of data. Random ranges of its copies, each asked with a salt that was never used, show whether it has the bytes
-- (ADR 0114).
create table challenge (
    challenge_id bigint generated always as identity primary key,
    experiment_id integer not null references experiment,
    site_id integer not null references site,
    entry_no integer not null,
    receipt_id bigint not null references receipt,
    run_id bigint not null references run,
    asked_at timestamptz not null,
    offset_bytes bigint not null check (offset_bytes >= 0),
    length_bytes integer not null check (length_bytes >= 1),
    salt bytea not null unique check (octet_length(salt) = 32),
    method text not null check (method <> ''),
    answer bytea check (octet_length(answer) = 32),
    right_answer bytea check (octet_length(right_answer) = 32),
    compared_with text check (compared_with in ('HOME', 'SITE', 'FETCHED')),
    result text not null generated always as (
        case when answer is null or right_answer is null then 'UNKNOWN'
             when answer = right_answer then 'HELD'
             else 'WRONG' end) stored,
    check ((right_answer is null) = (compared_with is null))
);
comment on table challenge is 'The evidence that a site had bytes of its copies, or had not, when a scrub asked for them.';
comment on column challenge.entry_no is 'The entry whose copy was asked about; receipt_id has the digest that it was proven with.';
comment on column challenge.answer is 'What the site answered in time: a SHA-256 of salt, file, range and bytes; null: nothing.';
comment on column challenge.right_answer is 'What is right; null: nobody could compute it.';
comment on column challenge.compared_with is
    'Whose bytes that is from. HOME: the source''s. SITE: another site''s. FETCHED: those of the same copy, fetched whole.';
create index challenge_run on challenge (run_id);
create index challenge_experiment on challenge (experiment_id);
create trigger challenge_is_evidence before update or truncate on challenge
    for each statement execute function refuse_change();
create trigger challenge_is_erased before delete on challenge
    for each row execute function refuse_unless_erased();

alter table scrub add column challenges_left integer not null default 0 check (challenges_left >= 0);
comment on column scrub.challenges_left is
    'Random ranges that were drawn and not asked: what they are compared with would cost more reading than the scrub, or its time was over.';
