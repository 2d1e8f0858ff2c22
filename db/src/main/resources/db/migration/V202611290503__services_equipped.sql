-- Every service and worker also leaves what all of them need to have in common, so that a key that is missing where nobody works now is
-- found before a takeover (ADR 0081).

alter table service_seen
    add column process bigint not null default 0,
    add column equipment jsonb,
    drop constraint service_seen_pkey,
    add primary key (name, process);

comment on table service_seen is 'The last sign of life of each service, every 5 s while it is active or stands by, and of each worker. For people, and for the start of a service or worker, which compares its keys with those of the active service';
comment on column service_seen.process is '0: a service; otherwise the process of a worker on its machine';
comment on column service_seen.equipment is 'Fingerprints of its keys and of the settings that services have in common, never a secret; null: not known yet';
