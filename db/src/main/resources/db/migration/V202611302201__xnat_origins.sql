-- XNAT is a system that nights collect from (ADR 0111).

alter table origin drop constraint origin_kind_check;
alter table origin add constraint origin_kind_check check (kind in ('flywheel', 'dicomweb', 'xnat', 'tree'));

alter table experiment drop constraint experiment_source_kind_check;
alter table experiment add constraint experiment_source_kind_check
    check (source_kind in ('filesystem', 'dicom', 'flywheel', 'xnat', 'none'));
comment on column audit.experiment.source_kind is 'filesystem, dicom, flywheel or xnat';
