import { createHash } from 'node:crypto'
import type { BackfillRequest, PositionsSettings, StockSettings } from '@km0/contracts'
import type { PipelineSettings } from '@km0/contracts/pipeline-settings'

/** Grows with every change of the code that can change a row. */
const CODE = 1

/** What decides the rows of a batch run, frozen with a version. Delay and allowed lateness are live's alone. */
export type BatchRules = PositionsSettings | StockSettings

export function rulesOf(pipelines: PipelineSettings, pipeline: BackfillRequest['pipeline']): BatchRules {
  return { ...pipelines[pipeline], delayMs: 0, allowedLatenessMs: 0 }
}

/** Code and rules in a few words. */
export function codeOf(pipelines: PipelineSettings, pipeline: BackfillRequest['pipeline']): string {
  return `batch ${CODE}, ${pipeline} ${pipelines[pipeline].version}`
}

/** The same for two requests exactly when they ask for the same rows of the same data. */
export function questionOf(request: BackfillRequest, code: string, rules: BatchRules): string {
  const { pipeline, fromMs, toMs, owners } = request
  return digest([pipeline, fromMs, toMs, owners === null ? null : [...new Set(owners)].sort(), code, sortedMembers(rules)])
}

/** Natural id of a version: the question, and the version of the lake that answers it. */
export function naturalIdOf(question: string, snapshot: number, finalMs: number): string {
  return digest([question, snapshot, finalMs])
}

function sortedMembers(rules: BatchRules): [string, unknown][] {
  return Object.entries(rules).sort(([a], [b]) => (a < b ? -1 : 1))
}

function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 32)
}
