-- What was answered to a POST with an Idempotency-Key, to be answered again and not done again (ADR 0032).

create table kept_answer (
    user_id integer not null references dozo_user,
    key text not null check (length(key) between 1 and 255),
    request_sha256 bytea not null check (octet_length(request_sha256) = 32),
    begun_at timestamptz not null,
    status integer check (status between 200 and 499),
    location text,
    content_type text,
    body bytea check (octet_length(body) <= 262144),
    primary key (user_id, key)
);

create index kept_answer_begun on kept_answer (begun_at);

comment on table kept_answer is 'First answers to requests with a key, for 24 hours.';
comment on column kept_answer.request_sha256 is 'Of method, path, query and body.';
comment on column kept_answer.status is 'Null: not answered, or the answer was a failure of ours; then it may be tried again.';
comment on column kept_answer.body is 'Null where it was longer than what is kept.';
