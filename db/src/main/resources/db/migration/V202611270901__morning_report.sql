-- The morning report: what each night did, told once (ADR 0090).

create table morning_report (
    night date primary key,
    made_at timestamptz not null
);
comment on table morning_report is 'The nights of which the report was made, each once';
comment on column morning_report.night is 'The day of its morning: a night lasts from noon to noon, in the time zone of nights';

create table morning_report_site (
    night date not null references morning_report on delete cascade,
    site_id integer not null references site on delete cascade,
    due_at timestamptz,
    primary key (night, site_id)
);
comment on table morning_report_site is 'The sites that were in use, and when a night was due there: no other table has the plans of the past';
comment on column morning_report_site.due_at is 'The last time; null: no night was due';
create index morning_report_site_site on morning_report_site (site_id);

alter table recipient add column morning_report boolean not null default false;
comment on column recipient.morning_report is 'Whether it is told every morning what the night did';
update recipient set morning_report = (channel = 'mail');
alter table recipient alter column morning_report drop default;

alter table alert_message
    add column night date references morning_report on delete cascade,
    drop constraint alert_message_kind_check,
    drop constraint alert_message_check,
    add constraint alert_message_kind_check check (kind in ('RAISED', 'REMINDER', 'CLEARED', 'TEST', 'REPORT')),
    add constraint alert_message_about_check
        check ((alert_id is null) = (kind in ('TEST', 'REPORT')) and (night is null) = (kind <> 'REPORT')),
    add constraint alert_message_report_once unique (recipient_id, night);
comment on column alert_message.night is 'Of which night it is the report; null: it is none';
