-- Searches of lists that a user keeps: what they typed, under a name (docs/reference/pages.md).

create table saved_search (
    user_id integer not null references dozo_user,
    list text not null check (list ~ '^[a-z]{1,32}$'),
    name text not null check (length(name) between 1 and 50 and name !~ '[[:cntrl:]]'),
    query text not null check (length(query) <= 2000 and query ~ '^[!-~]*$'),
    primary key (user_id, list, name)
);
comment on table saved_search is 'The searches that a user keeps: the query of the list''s address.';
