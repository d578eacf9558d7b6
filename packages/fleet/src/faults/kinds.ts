/** What can go wrong with a phone in a van, how often it does by default, and how it is asked for on the command line. */

export const FAULT_KINDS = ['weak', 'tunnel', 'dead-phone', 'phone-off', 'clock', 'null-island', 'jump', 'duplicate', 'broken'] as const
export type FaultKind = (typeof FAULT_KINDS)[number]

/** Faults that last; the others hit a single fix. */
export const LASTING_KINDS = ['weak', 'tunnel', 'dead-phone', 'phone-off', 'clock'] as const
export type LastingKind = (typeof LASTING_KINDS)[number]

export interface FaultDescription {
  readonly kind: FaultKind
  /** Default number a van and day. */
  readonly perVanDay: number
  /** Meaning and default of the value after the van. */
  readonly value: string
  readonly says: string
}

export const FAULTS: readonly FaultDescription[] = [
  { kind: 'weak', perVanDay: 320, value: 'seconds (20)', says: 'weak coverage: points wait in the phone and come together at its end' },
  {
    kind: 'tunnel',
    perVanDay: 0.5,
    value: 'seconds (240)',
    says: 'dead zone of 3 to 8 minutes: nothing is sent, the points come afterwards',
  },
  { kind: 'dead-phone', perVanDay: 0.03, value: 'seconds (1320)', says: 'the phone is away for 22 minutes and comes back with its points' },
  { kind: 'phone-off', perVanDay: 0.45, value: 'seconds (3600)', says: 'switched off for 1 to 3 hours: no points, none afterwards' },
  {
    kind: 'clock',
    perVanDay: 0,
    value: 'seconds, + ahead or - behind (+90), for the whole run; +90/600 for 600 seconds',
    says: 'a wrong clock; by default van 13 is 42 s behind, and 95 s ahead for 6 minutes of every hour',
  },
  { kind: 'null-island', perVanDay: 0.8, value: 'number of fixes (1)', says: 'a fix at 0,0 instead of the true one' },
  { kind: 'jump', perVanDay: 1, value: 'kilometres (40)', says: 'one fix far from the road' },
  {
    kind: 'duplicate',
    perVanDay: 70,
    value: 'number of fixes (1)',
    says: 'sent again some seconds later; half of them with rounded coordinates',
  },
  {
    kind: 'broken',
    perVanDay: 0.35,
    value: 'how: json, types, seconds, empty, utf8, range, missing, ancient, future, identity, big',
    says: 'a payload that is refused; big (2 MB) comes only when asked for',
  },
]

/** Faults per van and day, by kind. */
export type FaultRates = Readonly<Record<FaultKind, number>>

export const DEFAULT_RATES: FaultRates = Object.fromEntries(FAULTS.map((fault) => [fault.kind, fault.perVanDay])) as Record<
  FaultKind,
  number
>

/** No fault by chance: only those that are forced. */
export const NO_FAULTS: FaultRates = Object.fromEntries(FAULTS.map((fault) => [fault.kind, 0])) as Record<FaultKind, number>
