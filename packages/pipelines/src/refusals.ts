import type { Outbox } from './outbox.ts'

/** Value of a dead letter: the record is none of ours. */
export const INVALID_TEXT = '{"motiu":"invalid"}'

/** Value of a dead letter: the record's event time is too far from its arrival. */
export const offTheClockText = (reason: 'futur' | 'antic', eventMs: number) => `{"motiu":"${reason}","data_ms":${eventMs}}`

export function emitInvalid(out: Outbox): void {
  out.emit('rebutjats', null, INVALID_TEXT)
}

export function emitOffTheClock(out: Outbox, key: string | null, reason: 'futur' | 'antic', eventMs: number): void {
  out.emit('rebutjats', key, offTheClockText(reason, eventMs))
}

/** Late side output; `closedWindows` are those of the point that were final. */
export function emitLate(out: Outbox, key: string, reason: 'tard' | 'parcial', eventMs: number, closedWindows: number): void {
  out.emit('tardans', key, `{"motiu":"${reason}","data_ms":${eventMs},"finestres_tancades":${closedWindows}}`)
}
