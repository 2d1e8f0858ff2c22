-- Where the copy of an entry lies at a site follows from receipts (ADR 0022): it stands under its name until another
-- content is proven there, and is moved then to the versions of the manifest that this one was sent under.

alter table receipt add column manifest_no integer check (manifest_no >= 1);
comment on column receipt.manifest_no is
    'The current manifest when the unit was claimed: what its entries replaced is kept under this number. '
    'Null: not noted then; the one that was current when it was verified.';

create view entry_receipt as
select r.experiment_id, r.site_id, r.receipt_id, r.entry_nos, n.entry_no,
       substring(r.digests from (n.i::integer - 1) * 32 + 1 for 32) as digest,
       coalesce(r.manifest_no,
                (select max(m.manifest_no) from manifest m
                 where m.experiment_id = r.experiment_id and m.sealed_at <= r.verified_at),
                1) as manifest_no
from receipt r cross join lateral unnest(r.entry_nos) with ordinality as n (entry_no, i);
comment on view entry_receipt is
    'A row for each entry of each receipt, also when something has been found about it since. For a few entries also ask '
    'for lowest_of(entry_nos) and highest_of(entry_nos), which are indexed.';

-- What a path goes through: for a/b/c it is a, b in a, and c in a/b. The root's path is empty and goes through nothing.
create function names_on_way(path bytea) returns table (folder bytea, name bytea)
    language sql immutable parallel safe
begin atomic
    select substring(path for greatest(slash - 1, 0)), substring(path from slash + 1 for name_end - slash)
    from (select i as name_end, coalesce(lag(i) over (order by i) + 1, 0) as slash
          from generate_series(1, length(path)) as i
          where i = length(path) or get_byte(path, i) = 47) as part;
end;
