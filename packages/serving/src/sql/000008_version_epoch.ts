export default /* sql */ `
-- Newest epoch of the windowing job that the store has heard of.
create function km0.newest_epoch() returns integer language sql stable parallel safe
  as $$ select coalesce(max(epoch), 0) from km0.partition_mark $$;

-- Under which epoch of the windowing job a version was frozen: late points of a greater one may be of another log, whose offsets say nothing.
alter table km0.version add column pipeline_epoch integer not null default km0.newest_epoch();
`
