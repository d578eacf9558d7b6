import type { Episode } from '../faults/episodes.ts'
import type { Outgoing } from '../messages/outgoing.ts'

const CLOCK = new Intl.DateTimeFormat('en-GB', { timeZone: 'Europe/Madrid', hour: '2-digit', minute: '2-digit', second: '2-digit' })

/** Says in readable lines what the fleet does. */
export class Narrator {
  readonly #write: (line: string) => void

  constructor(write: (line: string) => void) {
    this.#write = write
  }

  say(text: string): void {
    this.#write(text)
  }

  /** A line that begins with a time of day in Madrid. */
  at(instantMs: number, text: string): void {
    this.#write(`${CLOCK.format(instantMs)}  ${text}`)
  }

  episode(van: string, episode: Episode): void {
    this.at(episode.fromMs, `${van}${episodeText(episode)}`)
  }

  /** Single faults; duplicates are everyday and not told. */
  fault(message: Outgoing): void {
    if (message.van === null) return
    if (message.fault === 'null-island') this.at(message.arrivalMs, `${message.van} says that it is at 0,0`)
    if (message.fault === 'jump') this.at(message.arrivalMs, `${message.van} jumps: one fix far from the road`)
    if (message.fault === 'broken') this.at(message.arrivalMs, `${message.van} sends a broken payload (${message.payload.length} bytes)`)
  }
}

function episodeText(episode: Episode): string {
  const lasts = duration(episode.untilMs - episode.fromMs)
  switch (episode.kind) {
    case 'tunnel':
      return ` enters a dead zone for ${lasts}; its points come afterwards`
    case 'dead-phone':
      return `: the phone is away for ${lasts} and will come back with its points`
    case 'phone-off':
      return `: the phone is off for ${lasts}`
    case 'weak':
      return ` has weak coverage for ${lasts}`
    case 'clock':
      return `: the clock is ${Math.abs(episode.offsetMs / 1000)} s ${episode.offsetMs < 0 ? 'behind' : 'ahead'} for ${lasts}`
  }
}

/** `45 s`, `4 min`, `1 h 20 min`. */
export function duration(ms: number): string {
  if (!Number.isFinite(ms)) return 'the whole run'
  if (ms < 90_000) return `${Math.round(ms / 1000)} s`
  const minutes = Math.round(ms / 60_000)
  return minutes < 90 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
