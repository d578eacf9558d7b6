import { parseArgs } from 'node:util'
import { greatestRate } from './faults/episodes.ts'
import { type ForcedFault, parseForcedFault } from './faults/forced.ts'
import { DEFAULT_RATES, FAULT_KINDS, type FaultRates, LASTING_KINDS, NO_FAULTS } from './faults/kinds.ts'
import { REGISTERS, type RegisterName } from './register.ts'
import type { Hours } from './vans/shifts.ts'

/** What the command line asks for. */
export type Command =
  | { readonly kind: 'help' | 'list-faults' }
  | { readonly kind: 'register'; readonly which: RegisterName; readonly vans: number; readonly hours: Hours }
  | FleetCommand
  | PlayCommand

export interface FleetCommand extends Publishing {
  readonly kind: 'fleet'
  readonly vans: number
  readonly intervalMs: number
  readonly seed: number
  readonly hours: Hours
  readonly rates: FaultRates
  readonly wrongClock: boolean
  readonly forced: readonly ForcedFault[]
  /** Minutes of the past to live first, owning the clock; null: begin now, without the clock. */
  readonly catchUpMinutes: number | null
  /** Where the clock is remembered; null: nowhere. */
  readonly statePath: string | null
  /** Print to standard output instead of publishing. */
  readonly print: { readonly startMs: number; readonly durationMs: number } | null
}

export interface PlayCommand extends Publishing {
  readonly kind: 'play'
  readonly path: string
  /** False for `--from`: the bridge goes by the machine's clock. */
  readonly ownsClock: boolean
  readonly endMs: number | null
  readonly drainMs: number
  readonly thenExit: boolean
  readonly girona: boolean
  readonly strict: boolean
}

/** How messages go out. */
export interface Publishing {
  readonly speed: number
  readonly windowMessages: number
  readonly clientId: string
  readonly journalPath: string | null
  readonly journalMaxBytes: number
}

/** A wrong command line; the message says what is wrong. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

const OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  vans: { type: 'string', default: '140' },
  'interval-ms': { type: 'string', default: '5000' },
  seed: { type: 'string', default: '1' },
  speed: { type: 'string' },
  'realistic-hours': { type: 'boolean', default: false },
  'catch-up-minutes': { type: 'string' },
  state: { type: 'string' },
  fault: { type: 'string', multiple: true },
  rate: { type: 'string', multiple: true },
  calm: { type: 'boolean', default: false },
  'list-faults': { type: 'boolean' },
  'register-csv': { type: 'string' },
  print: { type: 'boolean', default: false },
  'start-ms': { type: 'string' },
  'duration-s': { type: 'string' },
  from: { type: 'string' },
  play: { type: 'string' },
  'end-ms': { type: 'string' },
  'drain-ms': { type: 'string', default: '0' },
  'then-exit': { type: 'boolean', default: false },
  girona: { type: 'boolean', default: false },
  strict: { type: 'boolean', default: false },
  journal: { type: 'string' },
  'journal-max-mib': { type: 'string', default: '256' },
  window: { type: 'string', default: '256' },
  'client-id': { type: 'string' },
} as const

/** Reads the arguments after the program's name. `nowMs` is the machine's time, the default start of `--print`. Throws a UsageError. */
export function parseCommand(args: readonly string[], nowMs: number): Command {
  const values = parseValues(args)
  if (values.help) return { kind: 'help' }
  if (values['list-faults']) return { kind: 'list-faults' }
  const vans = integer('vans', values.vans, 1, 100_000)
  const hours: Hours = values['realistic-hours'] ? 'madrid' : 'always'
  const asked = values['register-csv']
  if (asked !== undefined) {
    const which = REGISTERS.find((name) => name === asked)
    if (which === undefined) throw new UsageError(`--register-csv is followed by one of ${REGISTERS.join(', ')}`)
    return { kind: 'register', which, vans, hours }
  }
  if (values.from !== undefined && values.play !== undefined) throw new UsageError('--from and --play exclude each other')
  return values.from !== undefined || values.play !== undefined ? playCommand(values) : fleetCommand(values, vans, hours, nowMs)
}

type Values = ReturnType<typeof parseValues>

function parseValues(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, strict: true, allowPositionals: false }).values
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

function fleetCommand(values: Values, vans: number, hours: Hours, nowMs: number): FleetCommand {
  const catchUp = values['catch-up-minutes']
  if (values.speed !== undefined && catchUp === undefined) {
    throw new UsageError('--speed needs --catch-up-minutes or --play: a fleet that begins now lives at speed 1')
  }
  const intervalMs = integer('interval-ms', values['interval-ms'], 100, 600_000)
  return {
    kind: 'fleet',
    ...publishing(values, 'km0-fleet', 90),
    vans,
    intervalMs,
    seed: integer('seed', values.seed, 0, 0xffff_ffff),
    hours,
    rates: rates(values.rate ?? [], values.calm, intervalMs),
    wrongClock: !values.calm,
    forced: (values.fault ?? []).map((text) => forcedFault(text, vans)),
    catchUpMinutes: catchUp === undefined ? null : integer('catch-up-minutes', catchUp, 1, 7 * 24 * 60),
    statePath: values.state ?? null,
    print: values.print
      ? {
          startMs: integer('start-ms', values['start-ms'] ?? String(nowMs), 0, Number.MAX_SAFE_INTEGER),
          durationMs: integer('duration-s', values['duration-s'] ?? '60', 1, 30 * 86_400) * 1000,
        }
      : null,
  }
}

function playCommand(values: Values): PlayCommand {
  const ownsClock = values.play !== undefined
  if (!ownsClock && values.speed !== undefined && values.speed !== '1')
    throw new UsageError('--from plays at speed 1; --play takes a speed')
  return {
    kind: 'play',
    ...publishing(values, 'km0-player', ownsClock ? Number.POSITIVE_INFINITY : 1),
    path: values.play ?? values.from ?? '',
    ownsClock,
    endMs: values['end-ms'] === undefined ? null : integer('end-ms', values['end-ms'], 0, Number.MAX_SAFE_INTEGER),
    drainMs: integer('drain-ms', values['drain-ms'], 0, 86_400_000),
    thenExit: values['then-exit'],
    girona: values.girona,
    strict: values.strict,
  }
}

function publishing(values: Values, clientId: string, defaultSpeed: number): Publishing {
  return {
    speed: values.speed === undefined ? defaultSpeed : speed(values.speed),
    windowMessages: integer('window', values.window, 1, 10_000),
    // Two with one id would throw each other out for ever, and the demo may run already.
    clientId: values['client-id'] ?? `${clientId}-${process.pid}`,
    journalPath: values.journal ?? null,
    journalMaxBytes: integer('journal-max-mib', values['journal-max-mib'], 1, 1_000_000) * 1024 * 1024,
  }
}

function speed(text: string): number {
  if (text === 'max' || text === '0') return Number.POSITIVE_INFINITY
  const value = Number(text)
  if (!(value >= 1 && value <= 1_000_000)) throw new UsageError(`--speed ${text}: a number from 1 to 1000000, or max (0 is max too)`)
  return value
}

function rates(given: readonly string[], calm: boolean, intervalMs: number): FaultRates {
  const result: Record<string, number> = { ...(calm ? NO_FAULTS : DEFAULT_RATES) }
  for (const text of given) {
    const [name, amount] = text.split('=')
    const kind = FAULT_KINDS.find((candidate) => candidate === name)
    const lasting = LASTING_KINDS.find((candidate) => candidate === kind)
    const greatest = lasting === undefined ? 86_400_000 / intervalMs : greatestRate(lasting)
    const rate = Number(amount)
    if (kind === undefined || amount === undefined || !(rate >= 0))
      throw new UsageError(`--rate ${text}: write KIND=NUMBER (a van and day)`)
    if (rate > greatest) throw new UsageError(`--rate ${text}: at most ${greatest} a van and day`)
    result[kind] = rate
  }
  return result as FaultRates
}

function forcedFault(text: string, vans: number): ForcedFault {
  let fault: ForcedFault
  try {
    fault = parseForcedFault(text)
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
  const number = Number(/^furgoneta-([1-9]\d*)$/.exec(fault.van)?.[1])
  if (!(number <= vans)) throw new UsageError(`--fault ${text}: the vans are furgoneta-1 to furgoneta-${vans}`)
  return fault
}

function integer(name: string, text: string, least: number, greatest: number): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < least || value > greatest) {
    throw new UsageError(`--${name} ${text}: an integer from ${least} to ${greatest}`)
  }
  return value
}
