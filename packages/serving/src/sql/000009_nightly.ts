/** Nightly runs: one row a day of Europe/Madrid. */
export default /* sql */ `
create table km0.night_run (
  day_ms bigint primary key,
  day_end_ms bigint not null,
  due_ms bigint not null,
  state text not null default 'waiting' check (state in ('waiting', 'running', 'published', 'nothing', 'held', 'failed')),
  tasks jsonb not null default '[]',
  detail text not null default '',
  notified_of text not null default '',
  updated_at_ms bigint not null
);
`
