import type { DistanceValue, LiveValue, MarkValue, OutageValue, SignalValue } from './results.ts'

/**
 * Decoders of what the panel reads from Kafka. Each takes the record's value as text and returns the value, or null when it is not one:
 * a record of another kind, of a newer version, or damaged. Handwritten, since they run for every record.
 */

type Members = Readonly<Record<string, unknown>>

/** A distance or signal state of `repartiment.panell`; null for sessions, which the panel does not show, and for anything else. */
export function decodePanelValue(text: string): DistanceValue | SignalValue | null {
  const members = parse(text)
  if (members === null || !isName(members.repartidor)) return null
  if (members.tipus === 'distancia') return isDistance(members) ? (members as unknown as DistanceValue) : null
  if (members.tipus === 'senyal') return isSignal(members) ? (members as unknown as SignalValue) : null
  return null
}

/** A van's newest point of `repartiment.viu`. */
export function decodeLiveValue(text: string): LiveValue | null {
  const members = parse(text)
  if (members === null) return null
  const fits =
    isName(members.repartidor) &&
    isWithin(members.lat, 90) &&
    isWithin(members.lon, 180) &&
    isTime(members.data_ms) &&
    isTime(members.arribada_ms) &&
    (members.velocitat_mm_s === null || isFiniteNumber(members.velocitat_mm_s)) &&
    (members.rumb_graus === null || isFiniteNumber(members.rumb_graus)) &&
    typeof members.dubtos === 'boolean' &&
    (members.estat === 'en-moviment' || members.estat === 'aturada')
  return fits ? (members as unknown as LiveValue) : null
}

/** The mark of a source partition of `repartiment.marques`, or an outage of ours that stands there too. */
export function decodeMarkValue(text: string): MarkValue | OutageValue | null {
  const members = parse(text)
  if (members === null) return null
  if (members.tipus === 'tall') return isOutage(members) ? (members as unknown as OutageValue) : null
  const fits =
    isCount(members.particio) &&
    isCount(members.offset) &&
    isCount(members.epoca) &&
    [members.marca_aigua_ms, members.progres_ms, members.darrer_batec_ms, members.darrer_registre_ms].every(
      (value) => value === null || isTime(value),
    )
  return fits ? (members as unknown as MarkValue) : null
}

function isDistance(members: Members): boolean {
  const numbers = [members.inici_ms, members.fi_ms, members.distancia_mm, members.posicions, members.salts, members.desplacament_mm]
  return numbers.every(isTime) && (members.revisio === undefined || isCount(members.revisio))
}

function isOutage(members: Members): boolean {
  const { particio, offset, epoca, inici_ms, fi_ms, causa } = members
  return [particio, offset, epoca].every(isCount) && [inici_ms, fi_ms].every(isTime) && (causa === null || OUTAGE_CAUSES.has(causa))
}

const OUTAGE_CAUSES: ReadonlySet<unknown> = new Set(['pont', 'broker', 'kafka', 'endarreriment'])

function isSignal(members: Members): boolean {
  return (members.estat === 'amb-senyal' || members.estat === 'sense-senyal') && isTime(members.des_de_ms)
}

function parse(text: string): Members | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : null
  } catch {
    return null
  }
}

const isName = (value: unknown): value is string => typeof value === 'string' && value.length > 0
const isFiniteNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)
const isWithin = (value: unknown, limit: number): boolean => isFiniteNumber(value) && Math.abs(value) <= limit
const isTime = (value: unknown): boolean => Number.isSafeInteger(value)
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0
