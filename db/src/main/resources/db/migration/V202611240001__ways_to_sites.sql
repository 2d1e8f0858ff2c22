-- How connections get to a site: through a jump host, and with a DSCP mark.
alter table site
    add column jump_host text,
    add column jump_port integer check (jump_port between 1 and 65535),
    add column jump_login text,
    add column jump_identity_file text,
    add column jump_host_key text check (jump_host_key <> ''),
    add column dscp smallint not null default 0 check (dscp between 0 and 63),
    add check (num_nonnulls(jump_host, jump_port, jump_login, jump_identity_file, jump_host_key) in (0, 5));
comment on column site.jump_host is 'A host that forwards our connections to the site; null: the site is reached directly.';
comment on column site.jump_host_key is 'Its pinned public host keys, as host_key.';
comment on column site.dscp is 'The DSCP mark of our packets (RFC 2474); 0: none.';
