/** Times are integer milliseconds since 1970 (UTC). */
export default /* sql */ `
create table km0.market (
  id text primary key,
  name text not null,
  -- GeoJSON geometry, Polygon or MultiPolygon; null: none is known.
  zone jsonb
);

-- Shifts of depots in local time of Europe/Madrid: of a weekday (mon … sun), or of a date (YYYY-MM-DD) that replaces it; no hours: a day off.
create table km0.shift (
  depot_id text not null references km0.depot (id) on delete cascade,
  day text not null,
  start_at text,
  end_at text,
  check ((start_at is null) = (end_at is null)),
  unique (depot_id, day, start_at)
);

-- Commands of people: whose silence is not told for a while.
create table km0.mute (
  id bigint generated always as identity primary key,
  kind text not null check (kind in ('van', 'depot')),
  subject text not null,
  until_ms bigint,
  note text not null,
  actor_id text not null,
  actor_name text not null,
  actor_roles text[] not null,
  at_ms bigint not null,
  ended_at_ms bigint,
  ended_by_id text,
  ended_by_name text,
  ended_by_roles text[]
);
create index mute_open on km0.mute (until_ms) where ended_at_ms is null;

-- The 99th percentile of a van's windows in this hour of the week over the four weeks before, and how many windows that is made of.
create table km0.usual_distance (
  hour_ms bigint not null,
  van text not null,
  p99_mm bigint not null,
  windows integer not null,
  computed_at_ms bigint not null,
  primary key (hour_ms, van)
);
-- An hour was computed, even if no van has windows.
create table km0.usual_hour (
  hour_ms bigint primary key,
  computed_at_ms bigint not null
);

create index no_signal_episode_since on km0.no_signal_episode (since_ms);
create index no_signal_episode_ended on km0.no_signal_episode (ended_ms);
create index acknowledgement_at on km0.acknowledgement (at_ms);
`
