export default /* sql */ `
-- Records that retention had deleted before the windowing job read them, with the span of time in which they were.
create table km0.log_hole (
  partition integer not null,
  epoch integer not null,
  from_offset bigint not null,
  to_offset bigint not null,
  from_ms bigint not null,
  to_ms bigint not null,
  primary key (epoch, partition, from_offset)
);
create index log_hole_end on km0.log_hole (to_ms);
`
