-- What is not safe yet are few of many: lists by state read these, and not all that is safe.
create index protection_open on protection (site_id, experiment_id) where entries = entries_safe is false;
