// The ledger of the whole run: every difference between two stations has a name.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { LEDGER_CAUSES, type LedgerReport } from '@km0/contracts'
import type { Addresses } from '@km0/infra/launcher/parts'
import type { Check } from './check.ts'

const WAIT_S = 120

/** Runs `pnpm ledger` over the whole log, with nothing on its way any more. `brokerMayLose`: it was killed, and saves now and then only. */
export async function judgeLedger(root: string, addresses: Addresses, journal: string, brokerMayLose: boolean): Promise<Check> {
  const name = 'the ledger balances'
  const bundle = join(root, 'packages', 'cli', 'dist', 'ledger.js')
  const words = [bundle, '--all', '--drained', '--json', '--journal', journal, '--wait', String(WAIT_S)]
  const environment = { ...process.env, KAFKA_BROKERS: addresses.kafkaBrokers, DATABASE_URL: addresses.databaseUrl }
  const child = spawn(process.execPath, words, { cwd: root, env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
  let json = ''
  let said = ''
  child.stdout.on('data', (chunk) => (json += chunk))
  child.stderr.on('data', (chunk) => (said += chunk))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  if (code !== 0 && code !== 1) return { name, passed: false, detail: `it could not be told: ${said.trim()}${json.slice(-500)}` }
  const { balanced, unnamed, stations, steps } = JSON.parse(json) as LedgerReport
  const lost = steps.flatMap(({ lines }) => lines).filter(({ cause }) => cause === LEDGER_CAUSES.lostAtBroker)
  const lostCount = lost.reduce((sum, { change }) => sum + Math.abs(change), 0)
  const counts = stations.map((station) => `${station.name} ${station.count ?? '?'}`).join(', ')
  const wrong = steps
    .filter((step) => step.unnamed !== 0)
    .map((step) => `${step.from} → ${step.to}: ${step.fromCount} and ${JSON.stringify(step.lines)} make not ${step.toCount}`)
  return {
    name,
    passed: balanced && (lostCount === 0 || brokerMayLose),
    detail: `${counts}; ${LEDGER_CAUSES.lostAtBroker} ${lostCount}, unnamed ${unnamed}${wrong.length === 0 ? '' : `: ${wrong.join('; ')}`}`,
  }
}
