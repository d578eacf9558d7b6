// `pnpm engine:check [--host NAME] [--logs N] [--seeds N] [--no-day]`: the same logs through every host that is here, with kills in the middle;
// results by key equal those of the oracle or of an offline replay. The last line is `N passed, N failed`.
import { parseArgs } from 'node:util'
import { HOSTS } from './hosts.ts'
import { planOf } from './logs.ts'
import { runHost } from './run.ts'

const { values } = parseArgs({
  options: {
    host: { type: 'string', multiple: true },
    logs: { type: 'string', default: '200' },
    seeds: { type: 'string', default: '12' },
    'no-day': { type: 'boolean', default: false },
  },
})
const unknown = (values.host ?? []).find((name) => !HOSTS.some((host) => host.name === name))
if (unknown !== undefined) {
  console.error(`there is no host ${unknown}; there are ${HOSTS.map(({ name }) => name).join(', ')}`)
  process.exit(2)
}
const plan = planOf({ logs: Number(values.logs), seeds: Number(values.seeds), day: !values['no-day'], nowMs: Date.now() })
console.log(`${plan.cases.length + 1} cases, ${plan.records.length} records, ${plan.positionPartitions} partitions of positions`)
let passed = 0
let failed = 0
for (const host of HOSTS.filter(({ name }) => values.host === undefined || values.host.includes(name))) {
  const missing = host.missing()
  if (missing !== null) {
    // Who asks for a host by name wants to know when it is not there.
    if (values.host !== undefined) failed += 1
    console.log(`${values.host === undefined ? 'skipped' : 'FAIL'} ${host.name}: ${missing}`)
    continue
  }
  const startedMs = performance.now()
  await host.prepare()
  const verdicts = await runHost(host, plan)
  for (const { name, difference } of verdicts) {
    if (difference === null) passed += 1
    else failed += 1
    if (difference !== null) console.log(`FAIL ${host.name}: ${name}: ${difference}`)
  }
  const right = verdicts.filter(({ difference }) => difference === null).length
  console.log(`${host.name}: ${right} of ${verdicts.length} cases, ${Math.round((performance.now() - startedMs) / 1000)} s`)
}
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed > 0 || passed === 0 ? 1 : 0)
