/** What late points say of a silence of which people were told is told to them too. */
export default /* sql */ `
alter table km0.event drop constraint event_kind_check;
alter table km0.event add constraint event_kind_check
  check (kind in ('no-signal', 'returned', 'corrected', 'low-stock', 'low-stock-over'));

-- How many late points the newest correction that was told counted; null: nobody was told of the silence, or it lasts.
alter table km0.no_signal_episode add column told_late_points integer;
-- From then on late points are to be looked at; null: nothing new has come.
alter table km0.no_signal_episode add column look_at_ms bigint;
create index no_signal_episode_look on km0.no_signal_episode (source_partition, look_at_ms) where look_at_ms is not null;
`
