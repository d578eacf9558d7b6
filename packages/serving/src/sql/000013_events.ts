/**
 * What is told to the outside: events, in the transaction that writes what they tell of, and who gets them. Times are integer milliseconds
 * since 1970 (UTC).
 */
export default /* sql */ `
-- Each event once, by its natural key. Ids grow in the order in which events become visible: whoever has read one has missed none before it.
create table km0.event (
  id bigint generated always as identity primary key,
  key text not null unique,
  kind text not null check (kind in ('no-signal', 'returned', 'low-stock', 'low-stock-over')),
  van text,
  product text,
  market text,
  at_ms bigint not null,
  detail jsonb not null,
  written_at_ms bigint not null
);

create function km0.tell(a_key text, a_kind text, a_van text, a_product text, a_market text, an_at_ms bigint, a_detail jsonb, a_written_at_ms bigint)
returns void language plpgsql as $$
begin
  -- Held until the end of the transaction, so that a smaller id is never seen after a greater one.
  perform pg_advisory_xact_lock(1618033988749);
  insert into km0.event (key, kind, van, product, market, at_ms, detail, written_at_ms)
  values (a_key, a_kind, a_van, a_product, a_market, an_at_ms, a_detail, a_written_at_ms) on conflict (key) do nothing;
end $$;

-- Silences that are still to be told of, or whose end is.
create table km0.silence_watch (
  van text not null,
  since_ms bigint not null,
  source_partition integer not null,
  told_step_ms bigint not null default 0,
  primary key (van, since_ms)
);
create index silence_watch_partition on km0.silence_watch (source_partition);

create function km0.watch_silence() returns trigger language plpgsql as $$
begin
  insert into km0.silence_watch (van, since_ms, source_partition) values (new.van, new.since_ms, new.source_partition) on conflict do nothing;
  return null;
end $$;
create trigger watch_silence after insert on km0.no_signal_episode for each row execute function km0.watch_silence();

create function km0.tell_low_stock() returns trigger language plpgsql as $$
declare e km0.stock_episode;
begin
  select * into e from km0.stock_episode where product = new.product and market = new.market and start_ms = new.start_ms;
  perform km0.tell('low-stock/' || new.product || '/' || new.market || '/' || new.start_ms || '/' || new.reason, 'low-stock', null, new.product, new.market,
    new.at_ms, jsonb_build_object('startMs', new.start_ms, 'reason', new.reason, 'stock', new.stock, 'threshold', e.threshold),
    coalesce(e.written_at_ms, new.at_ms));
  return null;
end $$;
create trigger tell_low_stock after insert on km0.stock_notice for each row execute function km0.tell_low_stock();

create function km0.tell_stock_over() returns trigger language plpgsql as $$
begin
  perform km0.tell('low-stock-over/' || new.product || '/' || new.market || '/' || new.start_ms, 'low-stock-over', null, new.product, new.market,
    new.end_ms, jsonb_build_object('startMs', new.start_ms, 'endMs', new.end_ms, 'minimum', new.minimum, 'threshold', new.threshold),
    new.written_at_ms);
  return null;
end $$;
create trigger tell_stock_over after insert or update on km0.stock_episode for each row when (new.end_ms is not null) execute function km0.tell_stock_over();

-- Who gets events and reports, and how far they have been handed out to them.
create table km0.subscription (
  id bigint generated always as identity primary key,
  name text not null,
  channel text not null check (channel in ('webhook', 'email', 'folder')),
  target text not null,
  secret text,
  locale text not null,
  kinds text[] not null,
  least_step_ms bigint not null,
  -- Time of day in Madrid, minutes after midnight, of the daily report; null: none.
  report_minutes integer,
  sees_all boolean not null,
  depots text[] not null,
  markets text[] not null,
  owner_id text not null,
  owner_name text not null,
  created_at_ms bigint not null,
  removed_at_ms bigint,
  handed_event_id bigint not null
);

create table km0.delivery (
  id bigint generated always as identity primary key,
  subscription_id bigint not null references km0.subscription (id),
  -- Natural key of the event, or of the report.
  key text not null,
  kind text not null,
  body jsonb not null,
  state text not null default 'waiting' check (state in ('waiting', 'sent', 'dead')),
  -- Grows with each time that somebody has it sent again.
  round integer not null default 1,
  attempts integer not null default 0,
  queued_at_ms bigint,
  created_at_ms bigint not null,
  tried_at_ms bigint,
  answer text not null default '',
  unique (subscription_id, key)
);
create index delivery_waiting on km0.delivery (id) where state = 'waiting';

-- Delay of the vans' positions, by hour of arrival, as the lake has them. Counts by step of lateness (LATENESS_STEPS_MS).
create table km0.lateness_hour (
  hour_ms bigint primary key,
  points bigint not null,
  late bigint not null,
  partly_late bigint not null,
  counts bigint[] not null,
  refused jsonb not null,
  measured_at_ms bigint not null
);
`
