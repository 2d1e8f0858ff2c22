-- Users who log in by OpenID Connect (ADR 0089).

alter table dozo_user
    drop constraint dozo_user_origin_check,
    drop constraint dozo_user_check1,
    add column subject text unique,
    add constraint dozo_user_origin_check check (origin in ('LOCAL', 'DIRECTORY', 'OIDC')),
    add constraint dozo_user_confirmed_check check ((origin <> 'LOCAL') = (confirmed_at is not null)),
    add constraint dozo_user_subject_check check (subject is null or origin = 'OIDC');

comment on column dozo_user.origin is
    'Where the login is checked: here, by the LDAP directory, or by the provider of OpenID Connect.';
comment on column dozo_user.subject is
    'Who the user is at the provider, whose names may change. Null after a person disabled and enabled the user: the next login under this name sets it.';
comment on column dozo_user.confirmed_at is
    'When the directory last said that there is this user, and in which groups; for a user of the provider, the last login.';
comment on table user_role is 'What a user may do; of a user who is not local, as the groups say.';
