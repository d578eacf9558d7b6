import type { Outbox } from './outbox.ts'

/** Rule 2 of section 3: `futur` or `antic` when the event time cannot be true at that arrival time, else null. */
export function offTheClock(eventMs: number, arrivalMs: number, maxFutureMs: number, maxAgeMs: number): 'futur' | 'antic' | null {
  if (eventMs > arrivalMs + maxFutureMs) return 'futur'
  return eventMs < arrivalMs - maxAgeMs ? 'antic' : null
}

export function emitInvalid(out: Outbox): void {
  out.emit('rebutjats', null, '{"motiu":"invalid"}')
}

export function emitOffTheClock(out: Outbox, key: string | null, reason: 'futur' | 'antic', eventMs: number): void {
  out.emit('rebutjats', key, `{"motiu":"${reason}","data_ms":${eventMs}}`)
}

/** Late side output; `closedWindows` are those of the point that were final. */
export function emitLate(out: Outbox, key: string, reason: 'tard' | 'parcial', eventMs: number, closedWindows: number): void {
  out.emit('tardans', key, `{"motiu":"${reason}","data_ms":${eventMs},"finestres_tancades":${closedWindows}}`)
}
