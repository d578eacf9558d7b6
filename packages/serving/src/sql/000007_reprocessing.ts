export default /* sql */ `
-- A reprocessing: the live job's code over the lake and then the log, into a version of its own that goes on growing.
create table km0.reprocessing (
  name text primary key,
  version bigint not null references km0.version (id) on delete cascade,
  -- Log epoch; another log is another reprocessing.
  epoch integer not null,
  -- Rows of hours before are not wanted; null: of all.
  from_ms bigint,
  started_at_ms bigint not null,
  moved_at_ms bigint not null
);

create table km0.reprocessing_partition (
  name text not null references km0.reprocessing (name) on delete cascade,
  partition integer not null,
  -- Records before it come from the lake, it and those after it from the log.
  seam_offset bigint not null,
  next_offset bigint not null,
  final_ms bigint,
  -- State of the pipeline before the record at next_offset; null: none yet.
  snapshot text,
  -- Sessions that are open there: van -> earliest possible start.
  open_sessions jsonb not null default '{}',
  primary key (name, partition)
);
`
