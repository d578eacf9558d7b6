export default /* sql */ `
-- Late side output of positions: what live results miss, wholly (tard) or in part (parcial). The source is the position itself.
create table km0.late_point (
  van text not null,
  event_ms bigint not null,
  reason text not null check (reason in ('tard', 'parcial')),
  epoch integer not null,
  source_partition integer not null,
  source_offset bigint not null,
  primary key (event_ms, epoch, source_partition, source_offset)
) partition by range (event_ms);
create index late_point_van on km0.late_point (van, event_ms);

-- What km0 certify found: an hour recomputed from the lake, against what was served.
create table km0.certificate (
  id bigint generated always as identity primary key,
  hour_ms bigint not null,
  -- Version of the lake that was read.
  snapshot bigint not null,
  -- Versions served for the hour's vans, as text; empty when all rows are live.
  versions text not null,
  rows_served bigint not null,
  rows_recomputed bigint not null,
  rows_different bigint not null,
  hash_served text not null,
  hash_recomputed text not null,
  result text not null check (result in ('equal', 'explained', 'different')),
  detail text not null,
  at_ms bigint not null
);
create index certificate_hour on km0.certificate (hour_ms, id desc);
`
