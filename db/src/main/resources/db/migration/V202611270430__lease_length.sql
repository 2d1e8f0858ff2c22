-- The length of leases is a setting of the active service, and its workers use the same one (ADR 0081).

alter table service_lease add column lease_millis int not null default 30000 check (lease_millis between 3000 and 600000);

comment on column service_lease.lease_millis is 'The length of the leases of the active service and of all workers';
