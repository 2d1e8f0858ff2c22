-- A catalogue that is rebuilt from a site (ADR 0070).

alter table run drop constraint run_kind_check;
alter table run add constraint run_kind_check check (kind in ('nightlyBackup', 'retry', 'scrub', 'rebuild'));

-- A bag does not say where its files came from.
alter table experiment drop constraint experiment_source_kind_check;
alter table experiment add constraint experiment_source_kind_check check (source_kind in ('filesystem', 'dicom', 'flywheel', 'none'));
comment on column experiment.source_kind is 'none: unknown since the catalogue was rebuilt from a site; source_root is then only a name.';

-- Where claimed copies are, as for receipts.
create index found_copy_span on found_copy (experiment_id, site_id, lowest_of(entry_nos), highest_of(entry_nos));
create view claimed_entry as
select experiment_id, site_id, receipt_id, entry_nos, entry_no, digest, manifest_no from entry_receipt
union all
select f.experiment_id, f.site_id, f.found_id, f.entry_nos, n.entry_no,
       substring(f.digests from (n.i::integer - 1) * 32 + 1 for 32), f.manifest_no
from found_copy f cross join lateral unnest(f.entry_nos) with ordinality as n (entry_no, i);
comment on view claimed_entry is
    'As entry_receipt, with what a site claims and nobody has verified yet. Says where a copy lies, never that it is there.';

-- The first manifest that the catalogue has need not be number 1: a rebuilt one begins with the number that it found.
create or replace function protect_at_new_site() returns trigger
    language plpgsql as
$$
begin
    insert into protection (experiment_id, site_id, manifest_no, files, bytes, entries, files_safe, bytes_safe, entries_safe,
                            unprotected_since, counted_at)
    select m.experiment_id, new.site_id, m.manifest_no, m.files, m.bytes, m.files + m.folders + m.links, 0, 0, 0,
           f.sealed_at, new.updated_at
    from manifest m
    cross join lateral (select sealed_at from manifest where experiment_id = m.experiment_id order by manifest_no limit 1) f
    where not exists (select from manifest l where l.experiment_id = m.experiment_id and l.manifest_no > m.manifest_no);
    return null;
end
$$;
