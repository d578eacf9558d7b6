import { type AcknowledgementView, DEFAULT_POSITIONS_SETTINGS } from '@km0/contracts'
import { BackfillRefusedError } from '@km0/serving'
import type { backfillsRoutes } from './backfills/backfills-rest.ts'
import type { daysRoutes } from './days/days-rest.ts'
import type { DispatchOptions } from './dispatch/dispatch-extension.ts'
import { MaskingState } from './masking/masking-state.ts'
import type { PanelEvent } from './panel-events.ts'
import type { PanelSource } from './panel-source.ts'

/** What stands behind the panel's server while anything is asked of it: stores that hold next to nothing and are as strict as PostgreSQL. */

export const NOW = 1_789_380_000_000

/** One van that stands still. */
export class StillSource implements PanelSource {
  readonly stored: AcknowledgementView[] = []
  async start(give: (event: PanelEvent) => void): Promise<void> {
    give({
      kind: 'point',
      source: { epoch: 1, partition: 0, offset: 1 },
      value: {
        repartidor: 'furgoneta-1',
        lat: 42,
        lon: 2.8,
        data_ms: NOW,
        arribada_ms: NOW,
        velocitat_mm_s: null,
        rumb_graus: null,
        dubtos: false,
        estat: 'en-moviment',
      },
    } as PanelEvent)
  }
  async stop(): Promise<void> {}
  async acknowledge(_scope: unknown, view: AcknowledgementView): Promise<boolean> {
    this.stored.push(view)
    return true
  }
  async readTrail() {
    return []
  }
  async readOutages(_scope: unknown, fromMs: number, toMs: number) {
    return { fromMs, toMs, outages: [], silences: { counted: 0, overOutages: 0 } }
  }
  endOffsets() {
    return null
  }
  health() {
    return { kafka: { status: 'ok' as const } }
  }
}

/** As PostgreSQL does: text with a NUL is an error. */
function storable(...texts: readonly string[]): void {
  for (const one of texts) if (one.includes('\u0000')) throw new Error('invalid byte sequence for encoding "UTF8": 0x00')
}
const NO_REGISTER = { depots: [], markets: [], shifts: [] }
export const dispatch: DispatchOptions['store'] = {
  read: async () => ({ ...NO_REGISTER, registered: [], mutes: [], episodes: [], usual: null }),
  readRegister: async () => ({ ...NO_REGISTER, vans: [] }),
  tryImport: async () => ({ problems: [] }),
  importCsv: async () => ({ problems: [] }),
  putVan: async ({ van, name, plate, depotId }) => storable(van, name, plate ?? '', depotId ?? ''),
  clearShifts: async (depotId) => {
    storable(depotId)
    return true
  },
  removePlace: async (_kind, id) => {
    storable(id)
    return true
  },
  mute: async (_scope, { subject, note }) => {
    storable(subject, note)
    return 1
  },
  unmute: async () => false,
  readHandOver: async () => ({ changes: [], more: false }),
  readTravelTotals: async () => [],
  computeUsual: async () => false,
}
export const stock = {
  read: async () => ({ thresholds: [], episodes: [], low: [], acknowledgements: [] }),
  readHistory: async (_scope: unknown, { product, market }: { product: string; market: string }) => {
    storable(product, market)
    return { threshold: 10, points: [] }
  },
  acknowledge: async (_scope: unknown, { product, market, note }: { product: string; market: string; note: string }) => {
    storable(product, market, note)
    return true
  },
}

/** Nothing was ever run; a name with a NUL is an error of the store here too. */
export const days: Parameters<typeof daysRoutes>[0] = {
  serving: {
    readDays: async (_scope, periods) => ({ days: periods, vans: [], cells: [], late: [], certificates: [] }),
    readDay: async (_scope, van) => {
      storable(van)
      return null
    },
  },
  state: new MaskingState({ clock: 'machine', placeOf: () => null }),
  nowMs: () => NOW,
}
export const backfills: Parameters<typeof backfillsRoutes>[0] = {
  backfills: {
    list: async () => [],
    pastRate: async () => null,
    publications: async () => [],
    read: async () => null,
    progress: async () => null,
    readLog: async () => [],
    difference: refused,
    publish: refused,
    rollBack: refused,
    cancel: async () => false,
  },
  nights: { list: async () => [] },
  serving: {
    readDirtyPlan: async () => ({ hours: [], waiting: null, pieces: [], points: 0, rowsToRead: 0 }),
    readMissingPoints: async (van) => {
      storable(van)
      return []
    },
  },
  queue: {
    call: async (_kind, payload) => {
      storable(JSON.stringify(payload).replaceAll('\\u0000', '\u0000'))
      throw new Error('nothing is in the lake')
    },
  },
  rules: DEFAULT_POSITIONS_SETTINGS,
  nowMs: () => NOW,
}
async function refused(): Promise<never> {
  throw new BackfillRefusedError('there is no such version')
}
