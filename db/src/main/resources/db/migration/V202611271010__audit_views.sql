-- Views for auditors who bring their own tool (ADR 0094). A database role gets these views and nothing else; which projects it
-- sees is in audit_reader.

create table audit_reader (
    reader text not null check (reader <> ''),
    project_id integer references project
);
create unique index audit_reader_once on audit_reader (reader, project_id) nulls not distinct;
comment on table audit_reader is
    'Which projects a database role sees in the schema audit. Without a row it sees nothing.';
comment on column audit_reader.project_id is 'Null: all projects, and what belongs to none.';

-- The only place where it is decided who sees what. NB: in a view current_user is the role that asks, while tables are read with
-- the rights of the view's owner. A security barrier keeps conditions of the one who asks from seeing rows before this one.
create view audit_project with (security_barrier) as
select p.project_id, p.code, p.title, p.created_at
from project p
where exists (select from audit_reader r
              where r.reader = current_user::text and (r.project_id is null or r.project_id = p.project_id));
comment on view audit_project is 'The projects that the current database role may see.';

create view audit_experiment with (security_barrier) as
select e.*, p.code as project
from experiment e join audit_project p using (project_id);
comment on view audit_experiment is 'The experiments that the current database role may see.';

create schema audit;
comment on schema audit is 'Views for auditors: read-only, and only the projects that the role was admitted to.';

create view audit.project with (security_barrier) as
select code as project, title, created_at from audit_project;
comment on view audit.project is 'Projects';
comment on column audit.project.project is 'The code; it never changes';
comment on column audit.project.title is 'Text';
comment on column audit.project.created_at is 'When it was created';

create view audit.experiment with (security_barrier) as
select project, code as experiment, title, source_kind, modality, scanner, acquired_on, registered_at, registered_by
from audit_experiment;
comment on view audit.experiment is 'Registered experiments';
comment on column audit.experiment.project is 'The project''s code';
comment on column audit.experiment.experiment is 'The experiment''s code in the project';
comment on column audit.experiment.title is 'Text';
comment on column audit.experiment.source_kind is 'filesystem, dicom or flywheel';
comment on column audit.experiment.modality is 'As DICOM codes it; null: unknown';
comment on column audit.experiment.scanner is 'A code; null: unknown';
comment on column audit.experiment.acquired_on is 'The day of the visit; null: unknown';
comment on column audit.experiment.registered_at is 'When it was registered';
comment on column audit.experiment.registered_by is 'The user';

create view audit.manifest with (security_barrier) as
select e.project, e.code as experiment, m.manifest_no as manifest, m.sealed_at, m.files, m.folders, m.links, m.bytes,
       m.entries_new, m.entries_changed, m.entries_gone
from manifest m join audit_experiment e using (experiment_id);
comment on view audit.manifest is 'Sealed manifests: what an experiment contained';
comment on column audit.manifest.project is 'The project''s code';
comment on column audit.manifest.experiment is 'The experiment''s code';
comment on column audit.manifest.manifest is 'Its number in the experiment, from 1 on';
comment on column audit.manifest.sealed_at is 'When it was sealed';
comment on column audit.manifest.files is 'The number of files';
comment on column audit.manifest.folders is 'The number of folders';
comment on column audit.manifest.links is 'The number of symbolic links';
comment on column audit.manifest.bytes is 'The size of the files';
comment on column audit.manifest.entries_new is 'Entries that the manifest before did not have';
comment on column audit.manifest.entries_changed is 'Entries that differ from those of the manifest before';
comment on column audit.manifest.entries_gone is 'Entries that only the manifest before has';

create view audit.entry with (security_barrier) as
select e.project, e.code as experiment, v.entry_no as entry, entry_path(d.path, v.name) as path, v.kind, v.size_bytes as bytes,
       v.since_manifest, v.until_manifest
from entry_version v
join audit_experiment e using (experiment_id)
join directory d on d.experiment_id = v.experiment_id and d.directory_no = v.directory_no;
comment on view audit.entry is 'Files, folders and links of manifests. Many rows: ask for one experiment';
comment on column audit.entry.project is 'The project''s code';
comment on column audit.entry.experiment is 'The experiment''s code';
comment on column audit.entry.entry is 'Its number in the experiment; another content has another number';
comment on column audit.entry.path is 'The exact bytes; convert_from(path, ''UTF8'') is the text, if it is UTF-8';
comment on column audit.entry.kind is 'f: file, d: folder, l: link';
comment on column audit.entry.bytes is 'Its size';
comment on column audit.entry.since_manifest is 'The first manifest that has it';
comment on column audit.entry.until_manifest is 'The first manifest that does not have it any more; null: it is in the current one';

create view audit.coverage with (security_barrier) as
select e.project, e.code as experiment, s.name as site, c.manifest_no as manifest, c.since, c.until, c.files, c.files_safe, c.bytes,
       c.bytes_safe, c.entries, c.entries_safe, coalesce(c.entries = c.entries_safe, false) as safe, c.unprotected_since
from coverage c join audit_experiment e using (experiment_id) join site s using (site_id);
comment on view audit.coverage is
    'What was safe, and when: periods of each experiment at each site. At a moment: since <= moment and until > moment';
comment on column audit.coverage.project is 'The project''s code';
comment on column audit.coverage.experiment is 'The experiment''s code. One without a row was never read, and is not safe';
comment on column audit.coverage.site is 'The site';
comment on column audit.coverage.manifest is 'The manifest that was current';
comment on column audit.coverage.since is 'The begin of the period';
comment on column audit.coverage.until is 'Its end, exclusive; infinity: it lasts';
comment on column audit.coverage.files is 'The number of files of the manifest';
comment on column audit.coverage.files_safe is 'Those with a receipt';
comment on column audit.coverage.bytes is 'The size of the files';
comment on column audit.coverage.bytes_safe is 'The size of those with a receipt';
comment on column audit.coverage.entries is 'Files, folders and links';
comment on column audit.coverage.entries_safe is 'Those with a receipt';
comment on column audit.coverage.safe is 'Whether all entries had a receipt';
comment on column audit.coverage.unprotected_since is 'When the first manifest after the last safe one was sealed; null: safe';

create view audit.receipt with (security_barrier) as
select e.project, e.code as experiment, s.name as site, r.receipt_id as receipt, r.run_id as run, r.method, r.worker, r.verified_at,
       cardinality(r.entry_nos) as entries
from receipt r join audit_experiment e using (experiment_id) join site s using (site_id);
comment on view audit.receipt is 'The evidence that copies at a site have the digests of the source';
comment on column audit.receipt.project is 'The project''s code';
comment on column audit.receipt.experiment is 'The experiment''s code';
comment on column audit.receipt.site is 'The site';
comment on column audit.receipt.receipt is 'Its number';
comment on column audit.receipt.run is 'The run in which it was made';
comment on column audit.receipt.method is 'How the digest was computed at the site';
comment on column audit.receipt.worker is 'The worker that asked for it';
comment on column audit.receipt.verified_at is 'When it was';
comment on column audit.receipt.entries is 'How many entries it is about';

create view audit.digest with (security_barrier) as
select e.project, e.code as experiment, s.name as site, r.entry_no as entry, r.receipt_id as receipt, encode(r.digest, 'hex') as sha256,
       exists (select from damage d
               where d.experiment_id = r.experiment_id and d.site_id = r.site_id and d.entry_no = r.entry_no
                 and d.receipt_id >= r.receipt_id) as damaged_since
from entry_receipt r join audit_experiment e using (experiment_id) join site s using (site_id);
comment on view audit.digest is 'The digest of each entry in each receipt. Many rows: ask for one experiment';
comment on column audit.digest.project is 'The project''s code';
comment on column audit.digest.experiment is 'The experiment''s code';
comment on column audit.digest.site is 'The site';
comment on column audit.digest.entry is 'The entry''s number in the experiment';
comment on column audit.digest.receipt is 'The receipt''s number';
comment on column audit.digest.sha256 is 'As computed at the site, 64 hexadecimal digits';
comment on column audit.digest.damaged_since is 'Whether the copy was found missing or damaged later: the receipt proves nothing any more';

create view audit.reading with (security_barrier) as
select e.project, e.code as experiment, s.name as site, d.receipt_id as receipt, d.run_id as run, d.read_at, d.copies, d.bytes, d.cold,
       d.method, coalesce(cardinality(d.not_as_proven), 0) as damaged
from reading d join receipt r using (receipt_id) join audit_experiment e using (experiment_id) join site s using (site_id);
comment on view audit.reading is 'What scrubs read again; readings with a later one are deleted after the retention';
comment on column audit.reading.project is 'The project''s code';
comment on column audit.reading.experiment is 'The experiment''s code';
comment on column audit.reading.site is 'The site';
comment on column audit.reading.receipt is 'The receipt whose copies were read';
comment on column audit.reading.run is 'The scrub';
comment on column audit.reading.read_at is 'When they were read';
comment on column audit.reading.copies is 'The number of copies';
comment on column audit.reading.bytes is 'Their size';
comment on column audit.reading.cold is 'Whether the site''s disk was read, and not its memory';
comment on column audit.reading.method is 'How the digest was computed';
comment on column audit.reading.damaged is 'How many were not as verified';

create view audit.damage with (security_barrier) as
select e.project, e.code as experiment, s.name as site, d.entry_no as entry, d.receipt_id as receipt, d.run_id as run, d.kind,
       d.found_at, not exists (select from open_damage o where o.damage_id = d.damage_id) as repaired
from damage d join audit_experiment e using (experiment_id) join site s using (site_id);
comment on view audit.damage is 'Copies that were found not to be as verified';
comment on column audit.damage.project is 'The project''s code';
comment on column audit.damage.experiment is 'The experiment''s code';
comment on column audit.damage.site is 'The site';
comment on column audit.damage.entry is 'The entry''s number in the experiment';
comment on column audit.damage.receipt is 'The last receipt that is void for it';
comment on column audit.damage.run is 'The scrub that found it';
comment on column audit.damage.kind is 'MISSING, TRUNCATED, ALTERED, REPLACED or RELINKED';
comment on column audit.damage.found_at is 'When it was found';
comment on column audit.damage.repaired is 'Whether a later receipt proves a new copy';

create view audit.finding with (security_barrier) as
select e.project, e.code as experiment, s.name as site, f.finding_id as finding, f.run_id as run, f.reason, f.path, f.found_at,
       f.superseded_by, a.acknowledged_at, a.acknowledged_by
from finding f join audit_experiment e using (experiment_id) join run r on r.run_id = f.run_id join site s using (site_id)
left join acknowledgement a using (finding_id);
comment on view audit.finding is 'What needed a person; superseded findings are deleted after the retention';
comment on column audit.finding.project is 'The project''s code';
comment on column audit.finding.experiment is 'The experiment''s code';
comment on column audit.finding.site is 'The site of the run';
comment on column audit.finding.finding is 'Its number';
comment on column audit.finding.run is 'The run that found it first';
comment on column audit.finding.reason is 'A code, such as UNREADABLE';
comment on column audit.finding.path is 'The exact bytes; null: it is about the whole experiment';
comment on column audit.finding.found_at is 'When it was found';
comment on column audit.finding.superseded_by is 'The later run that looked again; null: it stands';
comment on column audit.finding.acknowledged_at is 'When a person acknowledged it; null: nobody has';
comment on column audit.finding.acknowledged_by is 'Who';

create view audit.drill with (security_barrier) as
select e.project, e.code as experiment, s.name as site, r.restore_id as drill, r.manifest_no as manifest, r.state, r.requested_at,
       r.ended_at, r.entries, r.entries_verified, r.bytes_verified, r.findings, d.seconds
from drill d join restore r using (restore_id) join audit_experiment e using (experiment_id) join site s using (site_id);
comment on view audit.drill is 'Rehearsed restores';
comment on column audit.drill.project is 'The project''s code';
comment on column audit.drill.experiment is 'The experiment''s code';
comment on column audit.drill.site is 'The site that it was restored from';
comment on column audit.drill.drill is 'Its number';
comment on column audit.drill.manifest is 'The restored manifest';
comment on column audit.drill.state is 'COMPLETE: every file came back and was verified; FINDINGS, FAILED, STOPPED, BROKEN_OFF; WAITING, RUNNING';
comment on column audit.drill.requested_at is 'When it was requested';
comment on column audit.drill.ended_at is 'When it ended; null: it has not';
comment on column audit.drill.entries is 'Files, folders and links to restore';
comment on column audit.drill.entries_verified is 'Those restored and verified';
comment on column audit.drill.bytes_verified is 'Their size';
comment on column audit.drill.findings is 'What could not be restored';
comment on column audit.drill.seconds is 'How long it took; null: it did not run to its end';

-- NB: only these actions have a project or an experiment as their subject; a site or a user may have the name of a project.
create view audit.ledger with (security_barrier) as
select l.seq, l.at, l.actor, l.action, l.subject, l.detail, encode(l.hash, 'hex') as hash
from ledger l
where exists (select from audit_reader r where r.reader = current_user::text and r.project_id is null)
   or l.action ~ '^(project|experiment|manifest|certificate|drill|restore|hold)\.'
      and regexp_replace(l.subject, '[/#].*$', '') in (select code from audit_project);
comment on view audit.ledger is
    'The ledger: with some projects only the rows about them, so the chain can be checked only by those who see all projects';
comment on column audit.ledger.seq is '1, 2, 3 …';
comment on column audit.ledger.at is 'When';
comment on column audit.ledger.actor is 'Who: a user, or dozo for the program';
comment on column audit.ledger.action is 'What, such as manifest.sealed';
comment on column audit.ledger.subject is 'To what: PROJECT, PROJECT/EXPERIMENT or PROJECT/EXPERIMENT#MANIFEST, or something else';
comment on column audit.ledger.detail is 'JSON, all values as text';
comment on column audit.ledger.hash is 'SHA-256 over this row and the hash of the row before, 64 hexadecimal digits';

-- An administrator admits a database role that has no other rights; see docs/reference/audit-views.md.
create procedure audit.admit(role_name text, project_code text)
    language plpgsql as
$$
declare
    admitted integer;
begin
    if exists (select from pg_roles where rolname = role_name and (rolsuper or rolcreaterole or rolcreatedb or rolreplication or rolbypassrls))
       or exists (select from pg_auth_members m join pg_roles r on r.oid = m.member where r.rolname = role_name) then
        raise exception 'role "%" has other rights: expected one without attributes and memberships', role_name;
    end if;
    if exists (select from pg_class c join pg_namespace n on n.oid = c.relnamespace
               where n.nspname = 'public' and c.relkind in ('r', 'p', 'v', 'm')
                 and has_table_privilege(role_name, c.oid, 'select, insert, update, delete, truncate')) then
        raise exception 'role "%" has rights on Dozo''s tables: expected one without', role_name;
    end if;
    if project_code is not null then
        select project_id into admitted from project where code = project_code;
        if not found then
            raise exception 'project "%" does not exist', project_code;
        end if;
    end if;
    insert into audit_reader (reader, project_id) values (role_name, admitted) on conflict do nothing;
    execute format('grant usage on schema audit to %I', role_name);
    execute format('grant select on all tables in schema audit to %I', role_name);
    insert into ledger (at, actor, action, subject, detail)
    values (clock_timestamp(), current_user, 'reader.admitted', role_name, jsonb_build_object('project', coalesce(project_code, '*')));
end
$$;
comment on procedure audit.admit is 'Lets a database role see a project in these views; null: all projects.';

create procedure audit.dismiss(role_name text)
    language plpgsql as
$$
begin
    delete from audit_reader where reader = role_name;
    if not found then
        raise exception 'role "%" is admitted to no project', role_name;
    end if;
    execute format('revoke all on all tables in schema audit from %I', role_name);
    execute format('revoke all on schema audit from %I', role_name);
    insert into ledger (at, actor, action, subject, detail)
    values (clock_timestamp(), current_user, 'reader.dismissed', role_name, '{}');
end
$$;
comment on procedure audit.dismiss is 'Takes all of it back.';
revoke all on procedure audit.admit from public;
revoke all on procedure audit.dismiss from public;
