-- Where an entry lies below the source root: its name in a folder's path. In one place, because the root's path is
-- empty and has no slash after it. Written so that PostgreSQL puts the expression itself into a query (a SQL function
-- of one immutable expression, each argument a plain column), and a call costs no more than the expression did.
create function entry_path(directory_path bytea, entry_name bytea) returns bytea
    language sql immutable parallel safe
    return case when directory_path = ''::bytea then entry_name else directory_path || '\x2f'::bytea || entry_name end;

comment on function entry_path is 'An entry''s path below the source root: from its folder''s path and its name.';
