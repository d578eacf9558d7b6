import { BROKEN_VARIANTS, type BrokenVariant } from './broken.ts'
import { FAULT_KINDS, type FaultKind } from './kinds.ts'

/** A fault asked for on the command line. */
export interface ForcedFault {
  readonly kind: FaultKind
  readonly van: string
  /** Seconds, count or kilometres: see kinds.ts. */
  readonly value: number
  /** Of a clock: seconds it lasts; null for the whole run. */
  readonly lastsS: number | null
  /** Of a broken payload. */
  readonly variant: BrokenVariant | null
  /** Seconds after the start of the run. */
  readonly atS: number
}

const DEFAULT_AT_S = 15
const DEFAULT_VALUES: Record<FaultKind, number> = {
  weak: 20,
  tunnel: 240,
  'dead-phone': 1320,
  'phone-off': 3600,
  clock: 90,
  'null-island': 1,
  jump: 40,
  duplicate: 1,
  broken: 1,
}

/**
 * Reads `KIND:VAN[:VALUE][@SECONDS]`, e.g. `tunnel:furgoneta-7:240@60`, `clock:furgoneta-9:+90`, `broken:furgoneta-3:utf8`.
 * Throws a RangeError that says what is wrong.
 */
export function parseForcedFault(text: string): ForcedFault {
  const [, body, at] = /^(.*?)(?:@(\d+))?$/.exec(text) ?? []
  const [kind, van, value, ...rest] = (body ?? '').split(':')
  if (!isKind(kind)) throw new RangeError(`--fault ${text}: the kind is one of ${FAULT_KINDS.join(', ')} (see --list-faults)`)
  if (van === undefined || van === '' || rest.length > 0) throw new RangeError(`--fault ${text}: write KIND:VAN[:VALUE][@SECONDS]`)
  const common = { kind, van, atS: at === undefined ? DEFAULT_AT_S : Number(at) }
  if (kind === 'broken') return { ...common, value: 1, lastsS: null, variant: variantOf(text, value ?? 'json') }
  const [amount, lasts] = (value ?? String(DEFAULT_VALUES[kind])).split('/')
  const allowed = kind === 'clock' ? /^[+-]?\d+$/ : /^\d+$/
  if (!allowed.test(amount!) || (lasts !== undefined && !(kind === 'clock' && /^\d+$/.test(lasts)))) {
    throw new RangeError(`--fault ${text}: ${value} is not a value for ${kind} (see --list-faults)`)
  }
  return { ...common, value: Number(amount), lastsS: lasts === undefined ? null : Number(lasts), variant: null }
}

function isKind(text: string | undefined): text is FaultKind {
  return FAULT_KINDS.some((kind) => kind === text)
}

function variantOf(text: string, name: string): BrokenVariant {
  const variant = BROKEN_VARIANTS.find((candidate) => candidate === name)
  if (variant === undefined) throw new RangeError(`--fault ${text}: how it is broken is one of ${BROKEN_VARIANTS.join(', ')}`)
  return variant
}
