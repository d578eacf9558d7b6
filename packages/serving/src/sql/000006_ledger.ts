export default /* sql */ `
-- Ledgers: asked for by people or by the clock, done by a batch worker. The report is a LedgerReport of docs/ledger.md.
create table km0.ledger_run (
  id bigint generated always as identity primary key,
  from_ms bigint not null,
  to_ms bigint not null,
  reason text not null check (reason in ('hourly', 'asked')),
  actor_id text,
  actor_name text,
  asked_at_ms bigint not null,
  state text not null default 'waiting' check (state in ('waiting', 'running', 'done', 'failed', 'cancelled')),
  progress double precision not null default 0,
  attempts integer not null default 0,
  started_at_ms bigint,
  ended_at_ms bigint,
  -- The worker that has it, and when that was heard of last: a worker that is gone is replaced.
  worker text,
  seen_at_ms bigint,
  detail text,
  unnamed bigint,
  report jsonb
);
create unique index ledger_run_hour on km0.ledger_run (from_ms, to_ms) where reason = 'hourly';
create index ledger_run_open on km0.ledger_run (id) where state in ('waiting', 'running');
`
