import { type Emission, type PipelineHost, RECORD_FLAGS, type WindowObserver } from '@km0/contracts'
import { finiteOrNull } from '@km0/pipelines'
import type { LogLine } from './replay-input.ts'

const OUTCOMES = [
  [RECORD_FLAGS.accepted, 'accepted'],
  [RECORD_FLAGS.invalid, 'invalid'],
  [RECORD_FLAGS.future, 'off the clock: in the future'],
  [RECORD_FLAGS.ancient, 'off the clock: too old'],
  [RECORD_FLAGS.late, 'late'],
  [RECORD_FLAGS.duplicate, 'duplicate'],
  [RECORD_FLAGS.heartbeat, 'heartbeat'],
  [RECORD_FLAGS.settings, 'settings'],
  [RECORD_FLAGS.skipped, 'skipped'],
] as const

/** Tells of each record what became of it: the watermark after it, what it opened, what it closed, what was late. */
export class Explainer implements WindowObserver {
  private openedKeys: string[] = []

  opened(kind: string, owner: string, startMs: number, endMs: number | null): void {
    this.openedKeys.push(`${kind}|${owner}|${endMs ?? startMs}`)
  }

  /** One JSON line (without its end) for the record that `host` has just applied; `emissions` are those it caused. */
  explain(record: LogLine, flags: number, emissions: readonly Emission[], host: PipelineHost): string {
    const opened = this.openedKeys
    this.openedKeys = []
    const outcome = OUTCOMES.find(([flag]) => (flags & flag) !== 0)?.[1] ?? 'unknown'
    const late = emissions.filter(({ output }) => output === 'tardans').map(({ value }) => JSON.parse(value) as unknown)
    const rows = emissions.filter(({ output, key }) => output === 'alertes' || (output === 'panell' && !key?.startsWith('senyal|')))
    const isRevision = (value: string) => value.includes('"revisio":')
    return JSON.stringify({
      partition: record.partition,
      offset: record.offset,
      outcome,
      W: finiteOrNull(host.watermarkMs(record.partition)),
      F: finiteOrNull(host.finalMs(record.partition)),
      opened,
      closed: rows.filter(({ value }) => !isRevision(value)).map(({ key }) => key),
      revised: rows.filter(({ value }) => isRevision(value)).map(({ key }) => key),
      late,
    })
  }
}
