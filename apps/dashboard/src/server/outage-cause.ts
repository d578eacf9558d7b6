import type { OutageCause } from '@km0/contracts'
import type { SourceHealth } from './panel-source.ts'
import type { ProgramReport } from './programs-health.ts'

/** What the platform tells of itself, when nothing is heard. */
export interface Situation {
  /** By name, as in KM0_PROGRAMS. */
  readonly programs: ReadonlyMap<string, ProgramReport>
  /** Of what the panel itself reads. */
  readonly source: Readonly<Record<string, SourceHealth>>
  /** End of each source partition as it was some seconds ago; null when it is not known. */
  readonly endOffsets: ReadonlyMap<number, number> | null
  /** Next offset that the stream job reads, by partition. */
  readonly nextOffsets: ReadonlyMap<number, number>
}

/**
 * Why nothing is heard from these partitions (`whole`: from none): what is nearest to the vans and says of itself that it is not well, or does
 * not answer. Programs are known by their names: `bridge…` and `stream-positions…`.
 */
export function findCause(partitions: readonly number[], whole: boolean, situation: Situation): OutageCause {
  const bridges = named(situation.programs, 'bridge')
  const jobs = named(situation.programs, 'stream-positions')
  if (situation.source.kafka?.status === 'down') return 'kafka'
  const silentBridges = bridges.filter(({ status }) => status === 'silent').length
  if (silentBridges > 0 && (silentBridges === bridges.length || !whole)) return 'bridge'
  if (says(bridges, ['mqtt', 'input'], ['down'])) return 'broker'
  if (says(bridges, ['kafka'], ['down', 'degraded'])) return 'kafka'
  if (jobs.length > 0 && jobs.every((job) => job.status === 'silent' || says([job], ['start', 'group', 'results'], ['down'])))
    return 'stream'
  if (!whole) return 'partition'
  const { endOffsets, nextOffsets } = situation
  if (endOffsets !== null && partitions.some((partition) => (endOffsets.get(partition) ?? 0) > (nextOffsets.get(partition) ?? 0)))
    return 'behind'
  return bridges.length > 0 ? 'catching-up' : 'unknown'
}

function named(programs: ReadonlyMap<string, ProgramReport>, prefix: string): ProgramReport[] {
  return [...programs].filter(([name]) => name === prefix || name.startsWith(`${prefix}-`)).map(([, report]) => report)
}

function says(programs: readonly ProgramReport[], parts: readonly string[], statuses: readonly string[]): boolean {
  return programs.some((program) => parts.some((part) => statuses.includes(program.parts[part] ?? 'ok')))
}
