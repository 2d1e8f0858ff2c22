-- A token gets a new secret, and its former one is valid for a while, so that programs can change over.

alter table api_token
    add column former_sha256 bytea check (octet_length(former_sha256) = 32),
    add column former_until timestamptz,
    add check ((former_sha256 is null) = (former_until is null));
comment on column api_token.former_sha256 is 'Of the secret before the present one; null: the token has had one only.';
comment on column api_token.former_until is 'From then on the former secret is refused.';

create unique index api_token_former on api_token (former_sha256) where former_sha256 is not null;
