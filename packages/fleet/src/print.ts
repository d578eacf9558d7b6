import { once } from 'node:events'
import { fleetStream } from './messages/fleet-stream.ts'
import type { FleetCommand } from './options.ts'
import { settingsOf } from './run-fleet.ts'

/**
 * Writes a span of the fleet as JSON lines: `van`, `lat`, `lon`, `event_ms`, `arrival_ms` for good payloads (a recorded day that
 * --from and --play take), and `payload` instead of coordinates for broken ones (which they count as bad lines).
 */
export async function printFleet(command: FleetCommand, print: { startMs: number; durationMs: number }): Promise<void> {
  for (const message of fleetStream(settingsOf(command, print.startMs), print.startMs)) {
    if (message.arrivalMs >= print.startMs + print.durationMs) return
    const { van, payload, eventMs: event_ms, arrivalMs: arrival_ms } = message
    const what = message.fault === 'broken' ? { payload: String(payload) } : coordinates(payload)
    const line = { van, ...what, event_ms, arrival_ms, ...(message.fault === null ? {} : { fault: message.fault }) }
    if (!process.stdout.write(`${JSON.stringify(line)}\n`)) await once(process.stdout, 'drain')
  }
}

function coordinates(payload: string | Buffer): { lat: number; lon: number } {
  const { lat, lon } = JSON.parse(String(payload)) as { lat: number; lon: number }
  return { lat, lon }
}
