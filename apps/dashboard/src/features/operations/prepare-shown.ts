import type { LatenessView, OperationsView, OtherDelay, PartitionView, ServiceView } from '@km0/contracts/operations-panel'

/** From so much lag a partition is behind: results are later than the delay alone makes them. */
const BEHIND_MS = 120_000
/** A watermark that has fallen back by so much more within some minutes drifts. */
const DRIFTS_MS = 30_000
/** A checkpoint that is older than this is overdue: one is made every 30 s. */
const CHECKPOINT_OLD_MS = 120_000
/** From so much of its time spent waiting a program is held back. */
const PRESSED = 0.5

export type Mark = 'ok' | 'watch' | 'wrong'

/** Services with what is wrong first, in their order otherwise. */
export function prepareServices(services: readonly ServiceView[]): readonly (ServiceView & { readonly mark: Mark })[] {
  const marked = services.map((service) => ({ ...service, mark: markOf(service) }))
  const rank: Readonly<Record<Mark, number>> = { wrong: 0, watch: 1, ok: 2 }
  return marked.sort((a, b) => rank[a.mark] - rank[b.mark])
}

function markOf(service: ServiceView): Mark {
  const { status, backpressure } = service
  if (status === 'down' || status === 'silent') return 'wrong'
  return status === 'degraded' || fillsDisk(service) || (backpressure ?? 0) >= PRESSED ? 'watch' : 'ok'
}

/** A disk of it fills up: it is well, and will not be. */
const fillsDisk = ({ parts }: Pick<ServiceView, 'parts'>) => parts.some(({ name, detail }) => name === 'disk' && detail !== null)

export interface PartitionRow extends PartitionView {
  readonly isBehind: boolean
  readonly drifts: boolean
  readonly isCheckpointOld: boolean
}

export function preparePartitions(partitions: readonly PartitionView[]): readonly PartitionRow[] {
  return partitions.map((partition) => ({
    ...partition,
    isBehind: (partition.lagMs ?? 0) >= BEHIND_MS,
    drifts: (partition.driftMs ?? 0) >= DRIFTS_MS,
    isCheckpointOld: (partition.checkpointAgeMs ?? 0) >= CHECKPOINT_OLD_MS,
  }))
}

/** How many things somebody should look at. */
export function countTroubles(view: OperationsView): number {
  const services = prepareServices(view.services).filter(({ mark }) => mark !== 'ok').length
  const partitions = preparePartitions(view.partitions).filter((row) => row.isBehind || row.drifts || row.isCheckpointOld).length
  return services + partitions + ((view.ledger?.unnamed ?? 0) > 0 ? 1 : 0)
}

export interface DelayRow extends OtherDelay {
  readonly isSet: boolean
  /** How much older it would make results than the delay that is set; negative: newer. */
  readonly olderMs: number | null
}

/** The delay that is set among the others, by length. */
export function prepareDelays({ set, others }: LatenessView): readonly DelayRow[] {
  const rows = [...others, ...(set === null ? [] : [set])].sort((a, b) => a.delayMs - b.delayMs)
  return rows.map((row) => ({ ...row, isSet: row === set, olderMs: set === null ? null : row.delayMs - set.delayMs }))
}

/** The next longer delay, for the sentence that compares the two; null where there is none. */
export function nextDelay({ set, others }: LatenessView): OtherDelay | null {
  return others.find(({ delayMs }) => set !== null && delayMs > set.delayMs) ?? null
}

/** What is to be done has words for these programs, and general ones for all others. */
export const KNOWN_PROGRAMS: readonly string[] = [
  ...['dashboard', 'bridge', 'stream-positions', 'stream-serving', 'stream-lake', 'stream-stock-shuffle', 'stream-stock-windows', 'batch'],
]

export function advice(service: Pick<ServiceView, 'name' | 'status' | 'parts'> & { readonly mark: Mark }): string | null {
  if (service.mark === 'ok') return null
  if (service.mark === 'watch' && fillsDisk(service)) return 'disk'
  if (service.status === 'ok') return 'pressed'
  return service.status === 'degraded' ? 'degraded' : KNOWN_PROGRAMS.includes(service.name) ? service.name : 'other'
}
