/**
 * Versions of results beside the live ones, and the pointers that say which is served. An hour h holds windows with h < end <= h + 1 h and sessions
 * with h <= start < h + 1 h. `owner` is a van, of alerts a market. docs/adr/0015-versions-and-pointers.md.
 */
export default /* sql */ `
create table km0.version (
  id bigint generated always as identity primary key,
  -- Request, frozen snapshot, code and rules: the same asked twice is one.
  natural_id text not null unique,
  pipeline text not null check (pipeline in ('positions', 'stock')),
  from_ms bigint not null,
  to_ms bigint not null,
  -- null: all.
  owners text[],
  -- Request, code and rules without the snapshot: which versions answer the same question.
  question text not null,
  code text not null,
  settings jsonb not null,
  session_gap_ms bigint not null,
  -- Of the lake; epoch and next offset of each partition are those of the snapshot.
  snapshot bigint not null,
  epoch integer not null,
  offsets jsonb not null,
  final_ms bigint not null,
  -- Owners whose sessions go beyond the range: owner -> [first hour, end of last hour, end of what was read].
  spans jsonb not null,
  points bigint not null,
  state text not null check (state in ('running', 'ready', 'failed', 'cancelled')),
  -- Grows with each try: jobs of an older one are passed over.
  attempt integer not null default 1,
  actor_id text not null,
  actor_name text not null,
  actor_roles text[] not null,
  reason text not null,
  requested_at_ms bigint not null,
  started_at_ms bigint not null,
  finished_at_ms bigint,
  -- Hours of it were dropped: it cannot be published any more.
  dropped_at_ms bigint,
  error text,
  -- Newest publication that the stored difference was made against.
  compared_with bigint
);
create index version_question on km0.version (question, id desc);

create table km0.version_piece (
  version bigint not null references km0.version (id) on delete cascade,
  piece integer not null,
  from_ms bigint not null,
  to_ms bigint not null,
  owners text[] not null,
  points bigint not null,
  sessions_only boolean not null,
  done boolean not null default false,
  rows bigint not null default 0,
  -- Of the run in work, between 0 and 1.
  share double precision not null default 0,
  done_at_ms bigint,
  primary key (version, piece)
);

-- Which hours a version holds: what a pointer may point to. Gone when its rows are dropped.
create table km0.version_hour (
  version bigint not null references km0.version (id) on delete cascade,
  kind text not null,
  owner text not null,
  hour_ms bigint not null,
  primary key (kind, owner, hour_ms, version)
);
create index version_hour_version on km0.version_hour (version);

create table km0.version_log (
  id bigint generated always as identity primary key,
  version bigint not null references km0.version (id) on delete cascade,
  at_ms bigint not null,
  line text not null
);
create index version_log_version on km0.version_log (version, id);

create table km0.version_distance (
  version bigint not null,
  hour_ms bigint not null,
  van text not null,
  window_start_ms bigint not null,
  window_end_ms bigint not null,
  distance_mm bigint not null,
  positions integer not null,
  jumps integer not null,
  displacement_mm bigint not null,
  primary key (version, van, window_end_ms)
) partition by range (window_end_ms);

create table km0.version_session (
  version bigint not null,
  hour_ms bigint not null,
  van text not null,
  start_ms bigint not null,
  end_ms bigint not null,
  positions integer not null,
  primary key (version, van, start_ms)
) partition by range (start_ms);

-- Distance by hour. A day is the sum of its hours.
create table km0.version_travel (
  version bigint not null,
  hour_ms bigint not null,
  van text not null,
  distance_mm bigint not null,
  positions integer not null,
  jumps integer not null,
  jumps_mm bigint not null,
  gaps integer not null,
  gaps_mm bigint not null,
  primary key (version, van, hour_ms)
);

create table km0.version_alert (
  version bigint not null,
  hour_ms bigint not null,
  product text not null,
  market text not null,
  window_start_ms bigint not null,
  window_end_ms bigint not null,
  minimum bigint not null,
  updates integer not null,
  primary key (version, market, window_start_ms, product)
) partition by range (window_start_ms);

create table km0.version_difference (
  version bigint not null references km0.version (id) on delete cascade,
  owner text not null,
  hour_ms bigint not null,
  kind text not null,
  added integer not null,
  removed integer not null,
  changed integer not null,
  before_mm bigint,
  after_mm bigint,
  primary key (version, owner, hour_ms, kind)
);

-- Which version is served; without a row live is.
create table km0.pointer (
  kind text not null,
  owner text not null,
  hour_ms bigint not null,
  version bigint not null references km0.version (id),
  publication bigint not null,
  primary key (kind, owner, hour_ms)
);
create index pointer_hour on km0.pointer (kind, hour_ms);
create index pointer_version on km0.pointer (version);

create table km0.publication (
  id bigint generated always as identity primary key,
  action text not null check (action in ('publish', 'rollback')),
  version bigint not null references km0.version (id),
  undoes bigint references km0.publication (id),
  actor_id text not null,
  actor_name text not null,
  actor_roles text[] not null,
  reason text not null,
  at_ms bigint not null,
  hours integer not null,
  held jsonb not null
);
create index publication_version on km0.publication (version);

-- Hours side by side that moved alike are one row.
create table km0.publication_move (
  publication bigint not null references km0.publication (id),
  kind text not null,
  owner text not null,
  from_ms bigint not null,
  to_ms bigint not null,
  before bigint,
  after bigint,
  primary key (publication, kind, owner, from_ms)
);

-- The hour of a window that ends at end_ms.
create function km0.window_hour(end_ms bigint) returns bigint language sql immutable parallel safe
  as $$ select (end_ms - 1) / 3600000 * 3600000 $$;

create function km0.hour_of(at_ms bigint) returns bigint language sql immutable parallel safe
  as $$ select at_ms / 3600000 * 3600000 $$;

-- One view a kind: live rows where nothing is published, versioned rows where something is; version is null for live ones.
create view km0.served_distance as
  select r.van, km0.window_hour(r.window_end_ms) as hour_ms, r.window_start_ms, r.window_end_ms, r.distance_mm, r.positions, r.jumps,
    r.displacement_mm, r.revision, null::bigint as version
  from km0.distance_row r
  where not exists (select from km0.pointer p where p.kind = 'distance' and p.owner = r.van and p.hour_ms = km0.window_hour(r.window_end_ms))
  union all
  select v.van, v.hour_ms, v.window_start_ms, v.window_end_ms, v.distance_mm, v.positions, v.jumps, v.displacement_mm, 0, v.version
  from km0.pointer p
  join km0.version_distance v on v.version = p.version and v.van = p.owner and v.hour_ms = p.hour_ms
    and v.window_end_ms > p.hour_ms and v.window_end_ms <= p.hour_ms + 3600000
  where p.kind = 'distance';

create view km0.served_session as
  select r.van, km0.hour_of(r.start_ms) as hour_ms, r.start_ms, r.end_ms, r.positions, null::bigint as version
  from km0.session_row r
  where not exists (select from km0.pointer p where p.kind = 'session' and p.owner = r.van and p.hour_ms = km0.hour_of(r.start_ms))
  union all
  select v.van, v.hour_ms, v.start_ms, v.end_ms, v.positions, v.version
  from km0.pointer p
  join km0.version_session v on v.version = p.version and v.van = p.owner and v.hour_ms = p.hour_ms
    and v.start_ms >= p.hour_ms and v.start_ms < p.hour_ms + 3600000
  where p.kind = 'session';

-- Live has no rows of distance by hour. Every so many windows lie side by side without a gap: their sum is what live knows of an hour.
create view km0.served_travel as
  select r.van, km0.window_hour(r.window_end_ms) as hour_ms, sum(r.distance_mm)::bigint as distance_mm, sum(r.positions)::bigint as positions,
    sum(r.jumps)::bigint as jumps, null::bigint as jumps_mm, null::bigint as gaps, null::bigint as gaps_mm, null::bigint as version
  from km0.distance_row r
  where r.window_end_ms % (r.window_end_ms - r.window_start_ms) = 0
    and not exists (select from km0.pointer p where p.kind = 'travel' and p.owner = r.van and p.hour_ms = km0.window_hour(r.window_end_ms))
  group by r.van, km0.window_hour(r.window_end_ms)
  union all
  select v.van, v.hour_ms, v.distance_mm, v.positions, v.jumps, v.jumps_mm, v.gaps, v.gaps_mm, v.version
  from km0.pointer p
  join km0.version_travel v on v.version = p.version and v.van = p.owner and v.hour_ms = p.hour_ms
  where p.kind = 'travel';

create view km0.served_alert as
  select r.product, r.market, km0.window_hour(r.window_end_ms) as hour_ms, r.window_start_ms, r.window_end_ms, r.minimum, r.updates, r.revision,
    null::bigint as version
  from km0.stock_alert r
  where not exists (select from km0.pointer p where p.kind = 'alert' and p.owner = r.market and p.hour_ms = km0.window_hour(r.window_end_ms))
  union all
  select v.product, v.market, v.hour_ms, v.window_start_ms, v.window_end_ms, v.minimum, v.updates, 0, v.version
  from km0.pointer p
  join km0.version_alert v on v.version = p.version and v.market = p.owner and v.hour_ms = p.hour_ms
    and v.window_start_ms >= p.hour_ms and v.window_start_ms < p.hour_ms + 3600000
  where p.kind = 'alert';
`
