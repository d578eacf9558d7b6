import type { Session } from '@km0/windowing'
import type { DistanceRow } from './distance.ts'
import type { LiveRow } from './live-point.ts'
import type { TravelRow } from './travel.ts'

/** A van's name as it stands in values; it is written often, so it is encoded once. */
export interface VanName {
  readonly name: string
  /** As a JSON string, quotes included. */
  readonly json: string
}

export function vanName(name: string): VanName {
  return { name, json: JSON.stringify(name) }
}

export function distanceKey(van: VanName, endMs: number): string {
  return `distancia|${van.name}|${endMs}`
}

/** `revision` 0 is the first row, and is not written. */
export function distanceValue(van: VanName, startMs: number, endMs: number, row: DistanceRow, revision: number): string {
  const revised = revision > 0 ? `,"revisio":${revision}` : ''
  return `{"tipus":"distancia","repartidor":${van.json},"inici_ms":${startMs},"fi_ms":${endMs},"distancia_mm":${row.distanceMm},"posicions":${row.positions},"salts":${row.jumps},"desplacament_mm":${row.displacementMm}${revised}}`
}

export function sessionKey(van: VanName, startMs: number): string {
  return `sessio|${van.name}|${startMs}`
}

export function sessionValue(van: VanName, session: Session): string {
  return `{"tipus":"sessio","repartidor":${van.json},"inici_ms":${session.startMs},"fi_ms":${session.lastMs},"posicions":${session.count}}`
}

export function signalKey(van: VanName): string {
  return `senyal|${van.name}`
}

export function signalValue(van: VanName, state: 'amb-senyal' | 'sense-senyal', sinceMs: number): string {
  return `{"tipus":"senyal","repartidor":${van.json},"estat":"${state}","des_de_ms":${sinceMs}}`
}

export function liveValue(van: VanName, lat: number, lon: number, eventMs: number, arrivalMs: number, row: LiveRow): string {
  return `{"repartidor":${van.json},"lat":${lat},"lon":${lon},"data_ms":${eventMs},"arribada_ms":${arrivalMs},"velocitat_mm_s":${row.speedMmPerS},"rumb_graus":${row.headingDegrees},"dubtos":${row.doubtful},"estat":"${row.stopped ? 'aturada' : 'en-moviment'}"}`
}

export function travelKey(van: VanName, period: 'hora' | 'dia', startMs: number): string {
  return `recorregut|${van.name}|${period}|${startMs}`
}

export function travelValue(van: VanName, period: 'hora' | 'dia', row: Readonly<TravelRow>): string {
  return `{"tipus":"recorregut","repartidor":${van.json},"periode":"${period}","inici_ms":${row.startMs},"fi_ms":${row.endMs},"distancia_mm":${row.distanceMm},"posicions":${row.positions},"salts":${row.jumps},"salts_mm":${row.jumpsMm},"buits":${row.gaps},"buits_mm":${row.gapsMm}}`
}
