/** The watch of silences knows their end, so that vans that are silent for days cost nothing at each mark. */
export default /* sql */ `
alter table km0.silence_watch add column ended_ms bigint;
update km0.silence_watch s set ended_ms = e.ended_ms from km0.no_signal_episode e where e.van = s.van and e.since_ms = s.since_ms;

create function km0.end_watch() returns trigger language plpgsql as $$
begin
  update km0.silence_watch set ended_ms = new.ended_ms where van = new.van and since_ms = new.since_ms;
  return null;
end $$;
create trigger end_watch after update of ended_ms on km0.no_signal_episode for each row when (new.ended_ms is distinct from old.ended_ms)
  execute function km0.end_watch();

drop index km0.silence_watch_partition;
-- Steps that are still to be told: 60 minutes is the last one.
create index silence_watch_open on km0.silence_watch (source_partition, since_ms) where told_step_ms < 3600000;
create index silence_watch_ended on km0.silence_watch (source_partition) where ended_ms is not null;
`
