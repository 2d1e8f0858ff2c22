-- A report that a caller never took needs a person: the caller keeps its images, or somebody deletes them without knowing.
alter table commitment
    add column given_up_at timestamptz,
    add constraint commitment_given_up check (given_up_at is null or (due_at is null and reported_at is null));
comment on column commitment.given_up_at is 'Since when the report is not tried any more; null: it is, or was taken.';
