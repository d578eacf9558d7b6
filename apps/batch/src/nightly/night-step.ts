import type { Actor, BackfillPreview, BackfillRequest, BackfillView, NightFigures, NightRun, NightTask } from '@km0/contracts'
import { failedChecks, type NightLimits, nightRequests } from './night-rules.ts'

/** Who publishes in the night. */
export const NIGHT_ACTOR: Actor = { id: 'km0:nightly', name: 'Nightly run', roles: ['system'] }

/** What a step needs of the platform. */
export interface NightPlatform {
  readonly preview: (request: BackfillRequest) => Promise<Pick<BackfillPreview, 'finalMs' | 'owners' | 'refusal'>>
  /** Freezes and starts a backfill, or finds the one that is the answer already. Resolves to its version. */
  readonly plan: (request: BackfillRequest, reason: string) => Promise<number>
  readonly read: (version: number) => Promise<Pick<BackfillView, 'state' | 'error' | 'hours' | 'servedHours' | 'rows'> | null>
  readonly figures: (version: number) => Promise<NightFigures>
  readonly publish: (version: number, reason: string) => Promise<void>
  /** Backfills that the late points of the days before propose. */
  readonly dirty: (run: NightRun) => Promise<readonly BackfillRequest[]>
  /** Whether an error is a refusal, in words for a person. */
  readonly refusal: (error: unknown) => string | null
}

export interface NightSettings extends NightLimits {
  /** The lake must have passed the day's end by so much, by event time, in every partition. */
  readonly settleMs: number
}

/** Takes a run as far as it goes now. Returns it as it is then; the same when nothing could be done. */
export async function stepNight(run: NightRun, platform: NightPlatform, settings: NightSettings): Promise<NightRun> {
  if (run.state === 'waiting') return begin(run, platform, settings)
  if (run.state !== 'running') return run
  const tasks: NightTask[] = []
  for (const task of run.tasks) tasks.push(task.outcome === 'open' ? await stepTask(run, task, platform, settings) : task)
  return { ...run, tasks, ...stateOf(tasks) }
}

async function begin(run: NightRun, platform: NightPlatform, { settleMs }: NightSettings): Promise<NightRun> {
  const whole = { pipeline: 'positions', fromMs: run.dayMs, toMs: run.dayEndMs, owners: null } as const
  const { finalMs, owners } = await platform.preview(whole)
  if (finalMs === null || finalMs < run.dayEndMs + settleMs) {
    const upTo = finalMs === null ? 'holds nothing yet' : `is final up to ${new Date(finalMs).toISOString()}`
    return { ...run, detail: `the lake ${upTo}; wanted is ${new Date(run.dayEndMs + settleMs).toISOString()}` }
  }
  const dirty = await platform.dirty(run)
  const requests = nightRequests(run, dirty).filter(({ pipeline }) => pipeline === 'stock' || owners > 0 || dirty.length > 0)
  const tasks = requests.map((request): NightTask => ({ request, version: null, outcome: 'open', detail: '' }))
  return { ...run, state: 'running', tasks, detail: '' }
}

async function stepTask(run: NightRun, task: NightTask, platform: NightPlatform, settings: NightSettings): Promise<NightTask> {
  const reason = `night of ${new Date(run.dayMs + 12 * 3_600_000).toISOString().slice(0, 10)}`
  try {
    if (task.version === null) {
      const { refusal, owners } = await platform.preview(task.request)
      if (owners === 0) return { ...task, outcome: 'published', detail: 'nothing is there' }
      if (refusal !== null)
        return task.request.pipeline === 'stock' ? { ...task, detail: refusal } : { ...task, outcome: 'held', detail: refusal }
      return { ...task, version: await platform.plan(task.request, reason) }
    }
    return await judge(task, task.version, reason, platform, settings)
  } catch (error) {
    const refusal = platform.refusal(error)
    if (refusal === null) throw error
    return { ...task, outcome: 'held', detail: refusal }
  }
}

async function judge(task: NightTask, id: number, reason: string, platform: NightPlatform, settings: NightSettings): Promise<NightTask> {
  const view = await platform.read(id)
  if (view === null) return { ...task, outcome: 'failed', detail: `version ${id} is gone` }
  if (view.state === 'running') return task
  if (view.state !== 'ready') return { ...task, outcome: 'failed', detail: view.error ?? `version ${id} was ${view.state}` }
  if (view.servedHours === view.hours) return { ...task, outcome: 'published', detail: 'served already' }
  const failed = task.request.pipeline === 'stock' ? [] : failedChecks(await platform.figures(id), settings)
  if (failed.length > 0) return { ...task, outcome: 'held', detail: failed.join('; ') }
  await platform.publish(id, reason)
  return { ...task, outcome: 'published' }
}

/** A night has ended when all of its tasks have; the worst outcome is the night's. */
function stateOf(tasks: readonly NightTask[]): Pick<NightRun, 'state' | 'detail'> {
  const details = (outcome: NightTask['outcome']) => tasks.flatMap((task) => (task.outcome === outcome ? [wordsOf(task)] : [])).join('. ')
  if (tasks.some(({ outcome }) => outcome === 'open')) return { state: 'running', detail: details('open') }
  if (tasks.some(({ outcome }) => outcome === 'failed')) return { state: 'failed', detail: details('failed') }
  if (tasks.some(({ outcome }) => outcome === 'held')) return { state: 'held', detail: details('held') }
  return tasks.some(({ version }) => version !== null) ? { state: 'published', detail: '' } : { state: 'nothing', detail: '' }
}

function wordsOf({ request, version, detail }: NightTask): string {
  const what = version === null ? request.pipeline : `version ${version}`
  return detail === '' ? what : `${what}: ${detail}`
}
