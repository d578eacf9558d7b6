import type { Episode } from '../faults/episodes.ts'
import type { Outgoing } from './outgoing.ts'
import { type FleetSettings, VanMessages } from './van-messages.ts'

/** How long before its beginning a stream must look for points that still wait in a phone. */
const LOOK_BACK_MS = 40 * 60_000

/**
 * All messages of the fleet whose arrival is at or after `fromMs`, in order of arrival, without end. Equal settings give equal
 * messages, and a stream from a later instant is the rest of one from an earlier. `onEpisode` hears of each lasting fault that begins.
 */
export function* fleetStream(
  settings: FleetSettings,
  fromMs: number,
  onEpisode: (van: string, episode: Episode) => void = () => {},
): Generator<Outgoing, never> {
  const { intervalMs } = settings
  const vans = Array.from({ length: settings.vans }, (_, index) => new VanMessages(settings, index + 1))
  // Arrivals wait in the slot of time in which they fall. When the fixes of a slot are made nothing else can arrive in it.
  const waiting = new Map<number, Outgoing[]>()
  for (let slot = Math.floor((fromMs - LOOK_BACK_MS) / intervalMs); ; slot += 1) {
    for (const van of vans) {
      if ((slot + 1) * intervalMs > fromMs) {
        for (const episode of van.episodes.beginningIn(slot * intervalMs, (slot + 1) * intervalMs)) onEpisode(van.van, episode)
      }
      for (const message of van.ofFix(slot)) {
        if (message.arrivalMs < fromMs) continue
        const arrivalSlot = Math.floor(message.arrivalMs / intervalMs)
        const others = waiting.get(arrivalSlot)
        if (others === undefined) waiting.set(arrivalSlot, [message])
        else others.push(message)
      }
    }
    const due = waiting.get(slot) ?? []
    waiting.delete(slot)
    // The sort is stable: messages of one millisecond keep the order of their making.
    yield* due.sort((a, b) => a.arrivalMs - b.arrivalMs)
  }
}
