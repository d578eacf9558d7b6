/** Low stock: alerts, newest stock, its last days, episodes, what people were told and what they said. */
export default /* sql */ `
create table km0.stock_alert (
  product text not null,
  market text not null,
  window_start_ms bigint not null,
  window_end_ms bigint not null,
  minimum bigint not null,
  updates integer not null,
  revision integer not null,
  epoch integer not null,
  source_partition integer not null,
  source_offset bigint not null,
  written_at_ms bigint not null,
  primary key (product, market, window_start_ms)
) partition by range (window_start_ms);

-- One row a product and market, for ever.
create table km0.stock_live (
  product text not null,
  market text not null,
  stock bigint not null,
  threshold double precision not null,
  event_ms bigint not null,
  arrival_ms bigint not null,
  epoch integer not null,
  source_partition integer not null,
  source_offset bigint not null,
  written_at_ms bigint not null,
  primary key (product, market)
);
create index stock_live_low on km0.stock_live (market, product) where stock < threshold;

create table km0.stock_history (
  product text not null,
  market text not null,
  slot_ms bigint not null,
  minimum bigint not null,
  last_stock bigint not null,
  last_event_ms bigint not null,
  primary key (product, market, slot_ms)
) partition by range (slot_ms);

create table km0.stock_episode (
  product text not null,
  market text not null,
  start_ms bigint not null,
  end_ms bigint,
  minimum bigint not null,
  threshold double precision not null,
  last_window_ms bigint not null,
  epoch integer not null,
  source_partition integer not null,
  source_offset bigint not null,
  written_at_ms bigint not null,
  primary key (product, market, start_ms)
);
create index stock_episode_open on km0.stock_episode (market) where end_ms is null;
create index stock_episode_end on km0.stock_episode (end_ms);

-- A row for each time that people are told of an episode; its key keeps anything from being told twice.
create table km0.stock_notice (
  id bigint generated always as identity primary key,
  product text not null,
  market text not null,
  start_ms bigint not null,
  reason text not null check (reason in ('begun', 'halved', 'empty')),
  stock bigint not null,
  at_ms bigint not null,
  unique (product, market, start_ms, reason)
);
create index stock_notice_at on km0.stock_notice (at_ms);

-- Commands of people, one row each; the newest of an episode is the one in force.
create table km0.stock_acknowledgement (
  id bigint generated always as identity primary key,
  product text not null,
  market text not null,
  start_ms bigint not null,
  actor_id text not null,
  actor_name text not null,
  actor_roles text[] not null,
  note text not null,
  at_ms bigint not null
);
create index stock_acknowledgement_of on km0.stock_acknowledgement (product, market, start_ms, id desc);

create table km0.stock_mark (
  partition integer primary key,
  next_offset bigint not null,
  watermark_ms bigint,
  sources_ms bigint[] not null,
  arrival_ms bigint,
  epoch integer not null,
  written_at_ms bigint not null
);
`
