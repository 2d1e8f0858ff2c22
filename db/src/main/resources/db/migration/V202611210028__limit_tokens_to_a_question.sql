alter table api_token add column scope text not null default 'ALL' check (scope in ('ALL', 'STUDIES'));

alter table api_token add constraint api_token_scope_reads check (scope = 'ALL' or read_only);

comment on column api_token.scope is 'STUDIES: it may ask whether a study may be deleted, and nothing else.';
