-- Spring Batch asks before each step how often it was begun. Without these it reads every step of every night there was.
create index batch_job_execution_instance on batch_job_execution (job_instance_id);
create index batch_step_execution_job on batch_step_execution (job_execution_id);
