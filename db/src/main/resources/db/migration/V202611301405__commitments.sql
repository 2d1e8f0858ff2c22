-- A scanner may delete an image once Dozo has committed to it (Storage Commitment, ADR 0110). Who asks names objects, not files.
create table image (
    experiment_id integer not null references experiment,
    entry_no integer not null,
    sop_digest bytea not null check (octet_length(sop_digest) = 32),
    primary key (experiment_id, entry_no)
);
comment on table image is 'Which DICOM object an entry is, by the header of its file when it was read to be sent.';
comment on column image.sop_digest is 'SHA-256 of its SOP Class UID, a slash and its SOP Instance UID.';
create index image_object on image (sop_digest);
create trigger image_is_evidence before update or truncate on image
    for each statement execute function refuse_change();
create trigger image_is_erased before delete on image
    for each row execute function refuse_unless_erased();

create table commitment (
    commitment_id bigint generated always as identity primary key,
    caller text not null check (length(caller) between 1 and 16),
    transaction_uid text not null check (transaction_uid ~ '^[0-9.]{1,64}$'),
    class_uids text[] not null check (cardinality(class_uids) >= 1),
    instance_uids text[] not null check (cardinality(instance_uids) = cardinality(class_uids)),
    asked_at timestamptz not null,
    attempts integer not null default 0 check (attempts >= 0),
    due_at timestamptz,
    reported_at timestamptz,
    failed integer check (failed between 0 and cardinality(class_uids)),
    message text not null default '',
    unique (caller, transaction_uid),
    check ((reported_at is null) = (failed is null)),
    check (reported_at is null or due_at is null)
);
comment on table commitment is 'Which images a caller wants Dozo to commit to, and what it was told.';
comment on column commitment.caller is 'Its application entity title.';
comment on column commitment.due_at is 'When to look at it next; null: reported, or given up.';
comment on column commitment.reported_at is 'When the caller had the report; null: not yet.';
comment on column commitment.failed is 'How many images the report did not commit to.';
comment on column commitment.message is 'Why the last attempt to report failed; empty: it did not.';
create index commitment_due on commitment (due_at) where due_at is not null;
