import { FAULTS } from './faults/kinds.ts'

export const HELP = `pnpm fleet: a seeded demo fleet, or a recorded day, sent to the platform over MQTT (MQTT_URL).

  pnpm fleet                              140 vans that begin now, at speed 1
  pnpm fleet --catch-up-minutes 30        their last 30 minutes first, at speed 90, owning the clock; then at speed 1
  pnpm fleet --from FILE.jsonl            a recorded day, moved to begin now, at speed 1
  pnpm fleet --play FILE.jsonl            a recorded day, moved to end now, owning the clock (the bridge runs with KM0_CLOCK=play)

The fleet
  --vans N                 number of vans (140)
  --interval-ms N          milliseconds between two fixes of a van (5000)
  --seed N                 equal seeds and instants give equal messages (1)
  --realistic-hours        shifts by the clock of Madrid, phones off at night; default: most vans are on the road at any hour
  --catch-up-minutes N     begin N minutes ago and publish the clock on km0/rellotge
  --speed N|max            speed while catching up (90)
  --state FILE             remember the clock there: a fleet that starts again fills from where it was, and never turns it back
  --fault KIND:VAN[:VALUE][@SECONDS]   force a fault, SECONDS after the start (15); may be repeated; see --list-faults
  --rate KIND=N            faults of a kind by chance, a van and day; may be repeated
  --calm                   no fault by chance
  --list-faults            what can go wrong, and how often it does
  --register-csv depots|shifts|markets|vans   print the register of the demo fleet and stop
  --print [--start-ms N] [--duration-s N]   print the messages as JSON lines instead of sending them (now, 60)

A recorded day: lines {"van","lat","lon","event_ms"[,"arrival_ms"]}
  --speed N|max            of --play (max: as fast as the broker acknowledges)
  --end-ms N               instant of the last arrival (now, minus the drain, to the whole minute before)
  --drain-ms N             go on ticking so long after the last arrival, so that windows close (0)
  --then-exit              stop after the drain instead of ticking on at speed 1
  --girona                 move the recording onto Girona, distances kept
  --strict                 stop at the first bad line; default: count and go on

Both
  --window N               unacknowledged messages at most (256)
  --client-id ID           MQTT client id (km0-fleet-PID, km0-player-PID)
  --journal FILE           note every acknowledged message as a JSON line
  --journal-max-mib N      size at which the journal is rotated; one old file is kept (256)

Environment: MQTT_URL, KM0_HTTP_PORT (health and metrics when set), KM0_HTTP_HOST, KM0_LOG_LEVEL.
`

/** The table of faults for people. */
export function faultTable(): string {
  const rows = FAULTS.map((fault) => {
    const rate = fault.perVanDay === 0 ? '-' : String(fault.perVanDay)
    return `  ${fault.kind.padEnd(12)}${rate.padStart(6)}   ${fault.says}\n${' '.repeat(23)}VALUE: ${fault.value}`
  })
  return `kind          a day   what happens (by chance so often for each van and day)\n${rows.join('\n')}\n
Force one: --fault tunnel:furgoneta-7:240@60 --fault clock:furgoneta-9:+90 --fault broken:furgoneta-3:utf8\n`
}
