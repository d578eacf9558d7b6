/** Times are integer milliseconds since 1970 (UTC). Nothing here is newer than PostgreSQL 13. */
export default /* sql */ `
create table km0.depot (
  id text primary key,
  name text not null,
  lat double precision not null,
  lon double precision not null,
  markets text[] not null default '{}',
  shift_start text,
  shift_end text
);

create table km0.van (
  van text primary key,
  name text not null,
  plate text,
  depot_id text references km0.depot (id),
  in_service_from_ms bigint,
  in_service_to_ms bigint
);
create index van_depot on km0.van (depot_id);

-- Results carry where they come from: a row moves forward only, by (epoch, source_offset, source_partition).
create table km0.distance_row (
  van text not null,
  window_start_ms bigint not null,
  window_end_ms bigint not null,
  distance_mm bigint not null,
  positions integer not null,
  jumps integer not null,
  displacement_mm bigint not null,
  revision integer not null,
  epoch integer not null,
  source_partition integer not null,
  source_offset bigint not null,
  written_at_ms bigint not null,
  primary key (van, window_end_ms)
) partition by range (window_end_ms);
create index distance_row_end on km0.distance_row (window_end_ms);

create table km0.session_row (
  van text not null,
  start_ms bigint not null,
  end_ms bigint not null,
  positions integer not null,
  epoch integer not null,
  source_partition integer not null,
  source_offset bigint not null,
  written_at_ms bigint not null,
  primary key (van, start_ms)
) partition by range (start_ms);

-- One row a van, for ever: a van that is silent for a year is still silent.
create table km0.signal_state (
  van text primary key,
  state text not null check (state in ('signal', 'no-signal')),
  since_ms bigint not null,
  epoch integer not null,
  source_partition integer not null,
  source_offset bigint not null,
  written_at_ms bigint not null
);

-- History of silences; ended_ms is null while it lasts.
create table km0.no_signal_episode (
  van text not null,
  since_ms bigint not null,
  ended_ms bigint,
  epoch integer not null,
  source_partition integer not null,
  source_offset bigint not null,
  primary key (van, since_ms)
);

create table km0.live_point (
  van text primary key,
  lat double precision not null,
  lon double precision not null,
  event_ms bigint not null,
  arrival_ms bigint not null,
  speed_mm_per_s bigint,
  heading_degrees double precision,
  doubtful boolean not null,
  motion text not null check (motion in ('moving', 'stopped')),
  epoch integer not null,
  source_partition integer not null,
  source_offset bigint not null,
  written_at_ms bigint not null
);

create table km0.track_point (
  van text not null,
  slot_ms bigint not null,
  event_ms bigint not null,
  lat double precision not null,
  lon double precision not null,
  doubtful boolean not null,
  primary key (van, slot_ms)
) partition by range (slot_ms);

-- Commands of people, one row each; the newest of a (van, since_ms) is the one in force.
create table km0.acknowledgement (
  id bigint generated always as identity primary key,
  van text not null,
  since_ms bigint not null,
  actor_id text not null,
  actor_name text not null,
  actor_roles text[] not null,
  note text not null,
  at_ms bigint not null
);
create index acknowledgement_of on km0.acknowledgement (van, since_ms, id desc);

-- How far each topic has been applied; moved in the transaction that writes the rows.
create table km0.serving_offset (
  topic text not null,
  partition integer not null,
  next_offset bigint not null,
  cluster_id text not null,
  primary key (topic, partition)
);

create table km0.partition_mark (
  partition integer primary key,
  next_offset bigint not null,
  watermark_ms bigint,
  progress_ms bigint,
  heartbeat_ms bigint,
  record_ms bigint,
  epoch integer not null,
  written_at_ms bigint not null
);
`
