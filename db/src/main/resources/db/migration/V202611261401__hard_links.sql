-- A file with many names is sent and stored once (ADR 0072).
alter table transfer_unit drop constraint transfer_unit_kind_check;
alter table transfer_unit add constraint transfer_unit_kind_check check (kind in ('BUNDLE', 'LARGE', 'LINKS'));
alter table transfer_unit drop constraint transfer_unit_check;
alter table transfer_unit add constraint transfer_unit_check check (kind <> 'LARGE' or cardinality(entry_nos) = 1);
comment on column transfer_unit.kind is
    'BUNDLE: many whole entries. LARGE: one large file, sent as ranges over all lanes. LINKS: further names of files; '
    'claimed when no other unit of the run and experiment is PLANNED.';
comment on column transfer_unit.length_bytes is 'The content to send, if all goes well: 0 for LINKS.';

create index transfer_unit_content on transfer_unit (run_id, experiment_id) where state = 'PLANNED' and kind <> 'LINKS';

alter table receipt drop constraint receipt_way_in_check;
alter table receipt add constraint receipt_way_in_check check (way_in in ('archive', 'sftp', 'link'));
comment on column receipt.way_in is
    'How the content came to the site: in an archive that a tar there unpacked, by SFTP, or not again, because the entry is a '
    'hard link to a file that was there.';

-- Unknown for sites that were checked before; the next check sets it.
alter table site_capability add column links_files boolean not null default false;
alter table site_capability alter column links_files drop default;
comment on column site_capability.links_files is 'Whether files there can have hard links.';

create index entry_link_group on entry_link (experiment_id, hard_link, entry_no) where hard_link is not null;

-- What a further name of a file may be linked to. PostgreSQL puts the query itself into the one that calls it (a SQL function
-- of one query, in FROM).
create function group_proof(an_experiment integer, a_site integer, an_entry integer) returns table (digest bytea)
    language sql stable parallel safe
begin atomic
    select r.digest
    from (select an_entry as entry_no
          union all
          -- The same file, before it had other names.
          select v.entry_no
          from entry e
          cross join lateral versions_of(an_experiment, e.directory_no, e.name) v
          where e.experiment_id = an_experiment and e.entry_no = an_entry
            and v.until_manifest = e.since_manifest and v.kind = 'f'
            and (v.size_bytes, v.modified_ns, v.mode) = (e.size_bytes, e.modified_ns, e.mode)
            and not exists (select from entry_link l where l.experiment_id = an_experiment and l.entry_no = v.entry_no)) c
    join proven_entry r on r.experiment_id = an_experiment and r.site_id = a_site and r.entry_no = c.entry_no
                       and lowest_of(r.entry_nos) <= c.entry_no and highest_of(r.entry_nos) >= c.entry_no
    order by r.receipt_id desc
    limit 1;
end;
comment on function group_proof is
    'The proven digest of the copy that an entry of the current manifest has at a site. No row: it has none, or it is damaged.';
