-- The end of each run asks for all broken entries, of which there are few.
create index content_broken on content (experiment_id) where state = 'BROKEN';
