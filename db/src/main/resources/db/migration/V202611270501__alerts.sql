-- Alerts: conditions that need a person, and the messages about them (ADR 0087).

create table recipient (
    recipient_id integer generated always as identity primary key,
    name text not null unique check (name ~ '^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$'),
    channel text not null check (channel in ('mail', 'webhook')),
    address text not null check (length(address) between 3 and 500),
    language text not null check (language in ('en', 'ja')),
    remind_hours integer check (remind_hours between 1 and 8760),
    quiet_from time,
    quiet_until time check (quiet_until <> quiet_from),
    active boolean not null,
    check ((quiet_from is null) = (quiet_until is null))
);
comment on table recipient is 'Who is told about conditions that need a person';
comment on column recipient.address is 'A mail address; or the file on the service''s machine that contains a webhook''s URL, which is secret';
comment on column recipient.remind_hours is 'How often a condition that stands is repeated; null: never';
comment on column recipient.quiet_from is 'From here to quiet_until, in the time zone of nights, only the gravest conditions are told; the others wait';

create table recipient_project (
    recipient_id integer not null references recipient on delete cascade,
    project_id integer not null references project,
    primary key (recipient_id, project_id)
);
comment on table recipient_project is 'The projects that somebody is told about; without a row: all, sites and the service';

create table alert (
    alert_id bigint generated always as identity primary key,
    kind text not null,
    site_id integer references site,
    project_id integer references project,
    count bigint not null,
    subject text not null,
    raised_at timestamptz not null,
    seen_at timestamptz not null,
    cleared_at timestamptz
);
comment on table alert is 'A condition that needs a person, from when it was found until it was over';
comment on column alert.site_id is 'Null: it does not belong to one site';
comment on column alert.project_id is 'Null: it does not belong to one project';
comment on column alert.count is 'How many things it is about, when it was seen last';
comment on column alert.subject is 'The first of them';
create unique index alert_open on alert (kind, site_id, project_id) nulls not distinct where cleared_at is null;
create index alert_site on alert (site_id);

create table alert_message (
    message_id bigint generated always as identity primary key,
    recipient_id integer not null references recipient on delete cascade,
    alert_id bigint references alert on delete cascade,
    kind text not null check (kind in ('RAISED', 'REMINDER', 'CLEARED', 'TEST')),
    turn integer not null,
    count bigint not null,
    subject text not null,
    created_at timestamptz not null,
    due_at timestamptz not null,
    claimed_until timestamptz,
    attempts integer not null default 0,
    error text,
    sent_at timestamptz,
    given_up_at timestamptz,
    check ((alert_id is null) = (kind = 'TEST')),
    unique (recipient_id, alert_id, kind, turn)
);
comment on table alert_message is 'The outbox: what a recipient is to be told, or was told. It is kept until it is sent or given up';
comment on column alert_message.turn is 'The number of a reminder; 0: it is none';
comment on column alert_message.claimed_until is 'Until then a service sends it; later, another attempt may begin. By the database''s clock';
comment on column alert_message.error is 'Why the last attempt failed';
create index alert_message_waiting on alert_message (message_id) where sent_at is null and given_up_at is null;
create index alert_message_alert on alert_message (alert_id);
