// What the programs said of themselves.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Check } from './check.ts'

const DAMAGED = '"msg":"a checkpoint is damaged'
/** With the last lines of its log, which stand indented below. */
const BY_ITSELF = /^\S+ (\S+) ended \(exit (\d+)\).*((?:\n {4}.*)*)/gm
const FATAL = /^ {4}(\{"level":"fatal".*\})$/
const WHY_CHARACTERS = 120

/** No program found a checkpoint damaged: no fault of ours damages any, so one that is was stored so. */
export function judgeCheckpoints(folder: string): Check {
  const logs = join(folder, 'logs')
  const found = readdirSync(logs).flatMap((name) => {
    const count = readFileSync(join(logs, name), 'utf8').split(DAMAGED).length - 1
    return count === 0 ? [] : [`${count} in ${name}`]
  })
  return { name: 'no checkpoint was found damaged', passed: found.length === 0, detail: found.length === 0 ? 'none' : found.join(', ') }
}

/** Programs that ended without a signal, as `2 × fleet (exit 1: why)`. That may be right: what cannot go on ends and is started again. */
export function endedByThemselves(folder: string): string[] {
  const counts = new Map<string, number>()
  for (const [, name, code, end = ''] of readFileSync(join(folder, 'launcher.log'), 'utf8').matchAll(BY_ITSELF)) {
    // So it ends when a fault of ours asks it to.
    if (name === 'mqtt' && code === '0') continue
    const why = reasonIn(end)
    const what = `${name} (exit ${code}${why === null ? '' : `: ${why}`})`
    counts.set(what, (counts.get(what) ?? 0) + 1)
  }
  return [...counts].map(([what, count]) => `${count} × ${what}`)
}

/** What a program said last of all of the error that ended it; null when it said none. */
function reasonIn(end: string): string | null {
  const errors = end.split('\n').flatMap((line) => {
    const [, text] = FATAL.exec(line) ?? []
    if (text === undefined) return []
    const { err, msg } = JSON.parse(text) as { err?: { message?: string }; msg?: string }
    return [err?.message ?? msg ?? '']
  })
  return errors.at(-1)?.split('\n')[0]?.slice(0, WHY_CHARACTERS) ?? null
}
