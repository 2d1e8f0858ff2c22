-- What stands in a bag, found without a sort of everything by name: of what holds, no two have one name, and only what came after the first
-- manifest can have taken an earlier entry's name or that of a folder. Digests are cut out of receipts only where they are asked for.
create or replace function standing_entry(an_experiment integer, a_site integer)
    returns table (path bytea, entry_no integer, kind "char", size_bytes bigint, receipt_id bigint, digest bytea)
    language sql stable parallel safe as
$$
    with came as (
        select directory_no, name, entry_no, kind from entry_version
        where experiment_id = an_experiment and since_manifest > 1
    ), later as (
        select c.*
        from receipt r cross join lateral unnest(r.entry_nos) as n (entry_no) join came c using (entry_no)
        where r.experiment_id = an_experiment and r.site_id = a_site
          and highest_of(r.entry_nos) >= (select min(entry_no) from came)
    ), was_folder as (
        select d.path || '\x2f'::bytea as above, max(l.entry_no) as entry_no
        from later l
        join directory p on p.experiment_id = an_experiment and p.directory_no = l.directory_no
        join directory d on d.experiment_id = an_experiment and sha256(d.path) = sha256(entry_path(p.path, l.name))
        where l.kind <> 'd'
        group by d.path
    ), version as (
        select entry_no, directory_no, name, kind, size_bytes from entry where experiment_id = an_experiment
        union all
        select entry_no, directory_no, name, kind, size_bytes from ended_entry e
        where experiment_id = an_experiment
          and not exists (select from later l
                          where l.directory_no = e.directory_no and l.name = e.name and l.entry_no > e.entry_no)
    ), proof as (
        -- The latest of each entry. Not grouped: PostgreSQL would expect 200 rows of it, and go through all for each.
        select entry_no, receipt_id, place
        from (select n.entry_no, r.receipt_id, n.place,
                     lead(n.entry_no) over (order by n.entry_no, r.receipt_id) as next
              from receipt r cross join lateral unnest(r.entry_nos) with ordinality as n (entry_no, place)
              where r.experiment_id = an_experiment and r.site_id = a_site) p
        where next is distinct from entry_no
    ), named as (
        select entry_path(d.path, v.name) as path, v.entry_no, v.kind, v.size_bytes, p.receipt_id, p.place
        from version v join proof p using (entry_no)
        join directory d on d.experiment_id = an_experiment and d.directory_no = v.directory_no
    )
    select path, entry_no, kind, size_bytes, receipt_id,
           (select substring(r.digests from (n.place::integer - 1) * 32 + 1 for 32)
            from receipt r where r.receipt_id = n.receipt_id) as digest
    from named n
    where not exists (select from was_folder w
                      where n.entry_no < w.entry_no and substring(n.path for length(w.above)) = w.above)
$$;
