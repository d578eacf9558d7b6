import type { Outbox } from './outbox.ts'

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
