/** Times are integer milliseconds since 1970 (UTC). Nothing here is newer than PostgreSQL 13. */
export default /* sql */ `
-- Outages of ours: spans without heartbeats of a source partition, as the log tells them.
create table km0.outage (
  partition integer not null,
  from_ms bigint not null,
  to_ms bigint not null,
  cause text not null,
  epoch integer not null,
  source_offset bigint not null,
  primary key (partition, from_ms)
);
create index outage_end on km0.outage (to_ms);

-- History of silences, each with whether it overlaps an outage of its partition: then it says nothing about the van.
create view km0.no_signal_episode_judged as
select e.*, exists (
  select from km0.outage o
  where o.partition = e.source_partition and o.to_ms > e.since_ms and (e.ended_ms is null or o.from_ms < e.ended_ms)
) as over_outage
from km0.no_signal_episode e;
`
