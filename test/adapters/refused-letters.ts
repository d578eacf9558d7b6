import { DEFAULT_POSITIONS_SETTINGS } from '@km0/contracts'
import { DEAD_LETTERS, type LakeWriter, rowMaker } from '@km0/lake'
import { MINUTE } from '../laws/driver.ts'

/** Puts dead letters into the lake that arrived from `atMs` on: two of furgoneta-3 (the job's, and the bridge's, which keeps the message), one of another van. */
export async function refuseSome(writer: LakeWriter, atMs: number): Promise<void> {
  const maker = rowMaker(DEAD_LETTERS, 1, DEFAULT_POSITIONS_SETTINGS)
  const cos = Buffer.from('{"lat":41.98,"lon":2.82,"data_ms":"soon"}').toString('base64')
  const letters = [
    { key: 'furgoneta-3', value: { motiu: 'futur', data_ms: atMs + 600 * MINUTE } },
    { key: null, value: { motiu: 'camps', tema: 'km0/repartidors/furgoneta-3/posicio', cos, detall: 'data_ms' } },
    { key: 'furgoneta-33', value: { motiu: 'antic', data_ms: 0 } },
  ]
  const rows = letters.map(({ key, value }, offset) => {
    const timestampMs = atMs + offset * MINUTE
    return maker.row({ partition: 0, offset, timestampMs, key, value: Buffer.from(JSON.stringify(value)), headers: {} })
  })
  await writer.nextOffset(DEAD_LETTERS, 0)
  const kept = rows.filter((row) => row !== null)
  const times = { newestArrivalMs: null, newestEventMs: null }
  await writer.append([{ table: DEAD_LETTERS, partition: 0, fromOffset: 0, nextOffset: kept.length, rows: kept, ...times }])
}
