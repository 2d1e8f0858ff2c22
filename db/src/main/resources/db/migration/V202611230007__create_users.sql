-- Who may what: users, their roles and projects, and tokens for programs (ADR 0028).

create table dozo_user (
    user_id integer generated always as identity primary key,
    name text not null unique check (name ~ '^[a-z0-9][a-z0-9._@-]{0,63}$'),
    origin text not null check (origin in ('LOCAL', 'DIRECTORY')),
    password_hash text,
    disabled boolean not null default false,
    stamp integer not null default 0,
    created_at timestamptz not null,
    confirmed_at timestamptz,
    gone boolean not null default false,
    check ((origin = 'LOCAL') = (password_hash is not null)),
    check ((origin = 'DIRECTORY') = (confirmed_at is not null)),
    check (origin = 'DIRECTORY' or not gone)
);

comment on table dozo_user is 'Who may log in. Never removed: the ledger names them.';
comment on column dozo_user.origin is 'Where the password is checked: here, or by the LDAP directory.';
comment on column dozo_user.stamp is 'Counts up when sessions begun before have to end: another password, disabled.';
comment on column dozo_user.confirmed_at is 'When the directory last said that there is this user, and in which groups.';
comment on column dozo_user.gone is 'The directory said that there is no such user any more.';

create table user_role (
    user_id integer not null references dozo_user,
    role text not null check (role in ('LAB_MANAGER', 'OPERATOR', 'AUDITOR', 'ADMIN')),
    primary key (user_id, role)
);

comment on table user_role is 'What a user may do; of a user of the directory, as its groups say.';

create table membership (
    user_id integer not null references dozo_user,
    project_id integer not null references project,
    by_directory boolean not null default false,
    primary key (user_id, project_id, by_directory)
);

comment on table membership is 'Which projects are a lab manager''s own.';
comment on column membership.by_directory is 'Because of a group; else because an administrator said so. Both may be.';

create index membership_project on membership (project_id);

create table api_token (
    token_id integer generated always as identity primary key,
    user_id integer not null references dozo_user,
    name text not null check (length(name) between 1 and 64),
    secret_sha256 bytea not null unique check (octet_length(secret_sha256) = 32),
    roles text[] not null check (roles <@ array['LAB_MANAGER', 'OPERATOR', 'AUDITOR', 'ADMIN']),
    scope text not null default 'ALL' check (scope in ('ALL', 'STUDIES')),
    read_only boolean not null,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    revoked_at timestamptz,
    last_used_at timestamptz,
    check (expires_at > created_at and expires_at <= created_at + interval '366 days'),
    constraint api_token_scope_reads check (scope = 'ALL' or read_only)
);

create unique index api_token_name on api_token (user_id, name) where revoked_at is null;

comment on table api_token is 'What programs log in with, for a user. The secret itself is nowhere: it has 256 random bits.';
comment on column api_token.roles is 'At most these of the roles that its user has when it is used.';
comment on column api_token.scope is 'STUDIES: it may ask whether a study may be deleted, and nothing else.';
comment on column api_token.last_used_at is 'To the hour.';

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
