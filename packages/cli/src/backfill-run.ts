import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { BackfillPreview } from '@km0/contracts'
import { JOB_KINDS, planResult } from '@km0/contracts/backfill-payload'
import type { Backfills } from '@km0/serving'
import { actorOf, askWorkers, BACKFILL_ADDRESS_HELP, REQUEST_HELP, REQUEST_OPTIONS, requestsOf, withBackfills } from './backfill-open.ts'
import { differenceText, progressLine, rangeText } from './backfill-text.ts'
import type { Command } from './command.ts'

const text = { type: 'string' } as const
const flag = { type: 'boolean', default: false } as const
const LOOK_MS = 250

export const backfillPreview: Command = {
  words: ['backfill', 'preview'],
  summary: 'what a backfill would do, before anything is computed',
  help: `km0 backfill preview (--day DATE | --from TIME --to TIME) [--van NAME …] [--json]

  Says whether the range can be run, how many late points would come in, what was refused and what would help, which hours its sessions bring
  in, and how long it would take. Exits 1 when it cannot be run.
${REQUEST_HELP}
  ${BACKFILL_ADDRESS_HELP}`,
  run: async (args) => {
    const { values } = parseArgs({ args: [...args], options: { ...REQUEST_OPTIONS, json: flag } })
    let code = 0
    for (const request of requestsOf(values)) {
      const preview = (await askWorkers(JOB_KINDS.preview, { request })) as BackfillPreview
      if (values.json) process.stdout.write(`${JSON.stringify(preview, null, 2)}\n`)
      else process.stdout.write(`${rangeText(request)}\n\n${preview.says.map((line) => `- ${line}\n`).join('')}\n`)
      if (preview.refusal !== null) code = 1
    }
    return code
  },
}

export const backfillRun: Command = {
  words: ['backfill', 'run'],
  summary: 'compute a new version beside what is served',
  help: `km0 backfill run (--day DATE | --from TIME --to TIME) [--van NAME …] [--reason TEXT] [--by NAME] [--detach] [--json]

  Computes the range from the lake, late points included. Nothing changes for readers until the version is published. The same backfill over the
  same data is not run twice; one that failed or was cancelled goes on with what is missing. --detach does not wait. Ctrl-C leaves it running.
  Exits 1 when it fails.
${REQUEST_HELP}
  ${BACKFILL_ADDRESS_HELP}`,
  run: async (args) => {
    const options = { ...REQUEST_OPTIONS, reason: text, by: text, detach: flag, json: flag }
    const { values } = parseArgs({ args: [...args], options })
    const by = { actor: actorOf(values.by), reason: values.reason ?? '' }
    return withBackfills(async (store) => {
      for (const request of requestsOf(values)) {
        const { version, isNew } = planResult.parse(await askWorkers(JOB_KINDS.plan, { request, ...by }))
        if (!values.json) say(isNew ? `version ${version}: ${rangeText(request)}` : `version ${version} is this very backfill already`)
        if (!values.detach) await follow(store, version, values.json)
        const code = await done(store, version, values.json)
        if (code !== 0) return code
      }
      return 0
    })
  },
}

/** Shows progress until the version runs no more: one line that is written over, or with `isJson` one object a line. */
async function follow(store: Backfills, version: number, isJson: boolean): Promise<void> {
  const isTerminal = process.stderr.isTTY === true
  for (let last = ''; ; await sleep(LOOK_MS)) {
    const progress = await store.progress(version, Date.now())
    if (progress === null || progress.state !== 'running') break
    const line = isJson ? JSON.stringify(progress) : progressLine(progress)
    if (line !== last) process.stderr.write(isTerminal && !isJson ? `\r${line}\u001b[K` : `${line}\n`)
    last = line
  }
  if (isTerminal && !isJson) process.stderr.write('\r\u001b[K')
}

async function done(store: Backfills, version: number, isJson: boolean): Promise<number> {
  const view = await store.read(version)
  if (isJson) {
    const difference = view?.state === 'ready' ? await store.difference(version) : null
    process.stdout.write(`${JSON.stringify({ version: view, difference }, null, 2)}\n`)
    return view?.state === 'failed' || view?.state === 'cancelled' ? 1 : 0
  }
  if (view?.state === 'failed') {
    process.stderr.write(`version ${version} has failed: ${view.error ?? ''}\n`)
    return 1
  }
  if (view?.state === 'cancelled') {
    process.stderr.write(`version ${version} was cancelled: the same command goes on with what is missing\n`)
    return 1
  }
  if (view?.state === 'running') say(`it runs: \`km0 backfill show ${version}\` tells how far it is`)
  else {
    const difference = await store.difference(version)
    process.stdout.write(differenceText(difference, false))
    if (difference.hours.length > 0)
      say(`\nkm0 backfill diff ${version} shows it by hour; km0 backfill publish ${version} --reason TEXT makes it the served one`)
  }
  return 0
}

const say = (line: string) => process.stdout.write(`${line}\n`)
