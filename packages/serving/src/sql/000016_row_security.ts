/**
 * A second wall behind the scope that every read has as a condition: what a limited scope may not see, PostgreSQL does not give. Reads of a limited
 * scope run as km0_reader, which is nobody's login, with the names of the scope in settings of the transaction; without them they see nothing. Writers
 * are the owner of the tables, to whom no policy applies: an older program goes on as before. docs/adr/0024-row-security.md.
 */

/** Rows that belong to a van, by table. */
const VANS = [
  ...['van', 'distance_row', 'session_row', 'signal_state', 'no_signal_episode', 'live_point', 'track_point', 'acknowledgement'],
  ...['late_point', 'version_distance', 'version_session', 'version_travel', 'silence_watch', 'usual_distance'],
]
/** Rows that belong to a market. */
const MARKETS = [
  ...['stock_alert', 'stock_live', 'stock_history', 'stock_episode', 'stock_notice', 'stock_acknowledgement', 'version_alert'],
]
/** Rows whose `owner` is a van, and of alerts a market. */
const OWNERS = ['version_hour', 'version_difference', 'pointer', 'publication_move']

/** Names that km0.enter_scope left for this transaction; none without it. PostgreSQL makes a table of hashes of them once a statement. */
const names = (kind: string) => `(select unnest(nullif(current_setting('km0.scope_${kind}', true), '')::text[]))`
const IN_VANS = (column: string) => `${column} in ${names('vans')}`
const IN_DEPOTS = (column: string) => `${column} in ${names('depots')}`
const IN_MARKETS = (column: string) => `${column} in ${names('markets')}`

const POLICIES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(VANS.map((table) => [table, IN_VANS('van')])),
  ...Object.fromEntries(MARKETS.map((table) => [table, IN_MARKETS('market')])),
  ...Object.fromEntries(
    OWNERS.map((table) => [table, `case when kind = 'alert' then ${IN_MARKETS('owner')} else ${IN_VANS('owner')} end`]),
  ),
  event: `case when van is not null then ${IN_VANS('van')} else ${IN_MARKETS('market')} end`,
  depot: IN_DEPOTS('id'),
  shift: IN_DEPOTS('depot_id'),
  market: IN_MARKETS('id'),
  mute: `case when kind = 'van' then ${IN_VANS('subject')} else ${IN_DEPOTS('subject')} end`,
}

/** Tables and views that say nothing of a van or a market, and what of the others is needed to read those. */
const OPEN = [
  'serving_offset',
  'partition_mark',
  'stock_mark',
  'outage',
  'log_hole',
  'certificate',
  'version (id, pipeline_epoch, offsets)',
]
const VIEWS = ['pointed', 'served_distance', 'served_session', 'served_travel', 'served_alert', 'no_signal_episode_judged']

const grantOf = (name: string) => {
  const [table = '', columns = ''] = name.split(/ (?=\()/)
  return `grant select ${columns} on km0.${table} to km0_reader;`
}

export default /* sql */ `
do $$
begin
  if not exists (select from pg_roles where rolname = 'km0_reader') then
    begin
      create role km0_reader nologin;
    exception
      -- Roles are of the whole server: another database of it may make the same one at this moment.
      when duplicate_object or unique_violation then null;
    end;
  end if;
  if not pg_has_role(current_user, 'km0_reader', 'member') then
    execute format('grant km0_reader to %I', current_user);
  end if;
exception when insufficient_privilege then
  raise exception using errcode = 'insufficient_privilege',
    message = format('%I may not make the role km0_reader: an administrator of the server runs once'
      ' "create role km0_reader nologin; grant km0_reader to %I"', current_user, current_user);
end $$;

-- What a limited scope may see, until the end of the transaction. A depot is seen by name or through one of its markets, a market by name or
-- through a depot; vans that are not registered are seen by those who see everything.
create function km0.enter_scope(depots text[], markets text[]) returns void language sql as $$
  with seen as (select d.id, d.markets from km0.depot d where d.id = any($1) or d.markets && $2)
  select set_config('km0.scope_depots', array(select id from seen)::text, true),
    set_config('km0.scope_vans', array(select van from km0.van where depot_id in (select id from seen))::text, true),
    set_config('km0.scope_markets', array(select unnest($2) union select unnest(d.markets) from km0.depot d where d.id = any($1))::text, true)
$$;

grant usage on schema km0 to km0_reader;
${Object.entries(POLICIES)
  .map(
    ([table, using]) => `alter table km0.${table} enable row level security;
create policy scope on km0.${table} for select to km0_reader using (${using});
grant select on km0.${table} to km0_reader;`,
  )
  .join('\n')}
${OPEN.map(grantOf).join('\n')}

-- Pointers as the tables' owner sees them, a limited scope its own: where rows of a scope are joined with them, a policy would keep PostgreSQL from
-- looking them up by hour, since what computes an hour may fail and so tell of rows that it sees.
create function km0.is_scoped() returns boolean language sql stable parallel safe as $$ select current_user = 'km0_reader' $$;
create view km0.pointed as select p.* from km0.pointer p where not (select km0.is_scoped())
  or case when p.kind = 'alert' then ${IN_MARKETS('p.owner')} else ${IN_VANS('p.owner')} end;

-- Views read as whoever asks them, not as their owner. Otherwise they are as they were.
alter view km0.no_signal_episode_judged set (security_invoker = true);
create or replace view km0.served_distance with (security_invoker = true) as
  select r.van, km0.window_hour(r.window_end_ms) as hour_ms, r.window_start_ms, r.window_end_ms, r.distance_mm, r.positions, r.jumps,
    r.displacement_mm, r.revision, null::bigint as version
  from km0.distance_row r
  where not exists (select from km0.pointed p where p.kind = 'distance' and p.owner = r.van and p.hour_ms = km0.window_hour(r.window_end_ms))
  union all
  select v.van, v.hour_ms, v.window_start_ms, v.window_end_ms, v.distance_mm, v.positions, v.jumps, v.displacement_mm, 0, v.version
  from km0.pointer p
  join km0.version_distance v on v.version = p.version and v.van = p.owner and v.hour_ms = p.hour_ms
    and v.window_end_ms > p.hour_ms and v.window_end_ms <= p.hour_ms + 3600000
  where p.kind = 'distance';

create or replace view km0.served_session with (security_invoker = true) as
  select r.van, km0.hour_of(r.start_ms) as hour_ms, r.start_ms, r.end_ms, r.positions, null::bigint as version
  from km0.session_row r
  where not exists (select from km0.pointed p where p.kind = 'session' and p.owner = r.van and p.hour_ms = km0.hour_of(r.start_ms))
  union all
  select v.van, v.hour_ms, v.start_ms, v.end_ms, v.positions, v.version
  from km0.pointer p
  join km0.version_session v on v.version = p.version and v.van = p.owner and v.hour_ms = p.hour_ms
    and v.start_ms >= p.hour_ms and v.start_ms < p.hour_ms + 3600000
  where p.kind = 'session';

create or replace view km0.served_travel with (security_invoker = true) as
  select r.van, km0.window_hour(r.window_end_ms) as hour_ms, sum(r.distance_mm)::bigint as distance_mm, sum(r.positions)::bigint as positions,
    sum(r.jumps)::bigint as jumps, null::bigint as jumps_mm, null::bigint as gaps, null::bigint as gaps_mm, null::bigint as version
  from km0.distance_row r
  where r.window_end_ms % (r.window_end_ms - r.window_start_ms) = 0
    and not exists (select from km0.pointed p where p.kind = 'travel' and p.owner = r.van and p.hour_ms = km0.window_hour(r.window_end_ms))
  group by r.van, km0.window_hour(r.window_end_ms)
  union all
  select v.van, v.hour_ms, v.distance_mm, v.positions, v.jumps, v.jumps_mm, v.gaps, v.gaps_mm, v.version
  from km0.pointer p
  join km0.version_travel v on v.version = p.version and v.van = p.owner and v.hour_ms = p.hour_ms
  where p.kind = 'travel';

create or replace view km0.served_alert with (security_invoker = true) as
  select r.product, r.market, km0.window_hour(r.window_end_ms) as hour_ms, r.window_start_ms, r.window_end_ms, r.minimum, r.updates, r.revision,
    null::bigint as version
  from km0.stock_alert r
  where not exists (select from km0.pointed p where p.kind = 'alert' and p.owner = r.market and p.hour_ms = km0.window_hour(r.window_end_ms))
  union all
  select v.product, v.market, v.hour_ms, v.window_start_ms, v.window_end_ms, v.minimum, v.updates, 0, v.version
  from km0.pointer p
  join km0.version_alert v on v.version = p.version and v.market = p.owner and v.hour_ms = p.hour_ms
    and v.window_start_ms >= p.hour_ms and v.window_start_ms < p.hour_ms + 3600000
  where p.kind = 'alert';

${VIEWS.map((view) => `grant select on km0.${view} to km0_reader;`).join('\n')}
`
