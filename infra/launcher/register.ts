import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from '../start/run.mjs'

/** Order matters: vans and shifts name their depot. With vans it is done. */
const REGISTERS = ['depots', 'shifts', 'markets', 'vans'] as const

/** Whether the register of this data folder still wants filling. */
export function registerIsEmpty(dataDir: string): boolean {
  return !existsSync(doneFile(dataDir, 'vans'))
}

const doneFile = (dataDir: string, what: string) => join(dataDir, `${what}.imported`)

/**
 * Puts the demo fleet's depots, shifts, markets and vans into the register, once a data folder: what somebody changes there afterwards stays.
 * Rejects with what the command said.
 */
export async function fillRegister(options: {
  readonly root: string
  readonly dataDir: string
  readonly databaseUrl: string
}): Promise<void> {
  const environment = { ...process.env, DATABASE_URL: options.databaseUrl }
  for (const what of REGISTERS) {
    const done = doneFile(options.dataDir, what)
    if (existsSync(done)) continue
    const csv = join(options.dataDir, `${what}.csv`)
    const text = await run(process.execPath, [join('packages', 'fleet', 'dist', 'main.js'), '--register-csv', what], {
      cwd: options.root,
      environment,
    })
    writeFileSync(csv, text)
    await run(process.execPath, [join('packages', 'cli', 'dist', 'km0.js'), what, 'import', csv], { cwd: options.root, environment })
    writeFileSync(done, '')
  }
}
