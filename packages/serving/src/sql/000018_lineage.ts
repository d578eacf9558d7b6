/**
 * Lineage: what ran, and what of it was told to the outside. Backfills and publications are rows already; each run of a reprocessing, which goes on
 * where the one before ended, becomes one here. Times are integer milliseconds since 1970 (UTC).
 */
export default /* sql */ `
create table km0.reprocessing_run (
  id bigint generated always as identity primary key,
  name text not null references km0.reprocessing (name) on delete cascade,
  started_at_ms bigint not null,
  ended_at_ms bigint,
  state text not null default 'running' check (state in ('running', 'done', 'failed', 'stopped')),
  error text
);
create index reprocessing_run_name on km0.reprocessing_run (name);

-- Run events that were told, by run and kind: each at least once.
create table km0.lineage_told (
  run text not null,
  event text not null check (event in ('START', 'COMPLETE', 'FAIL', 'ABORT')),
  told_at_ms bigint not null,
  primary key (run, event)
);
`
