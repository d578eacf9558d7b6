import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from '../start/run.mjs'

/** Order matters: a van names its depot. */
const REGISTERS = ['depots', 'vans'] as const

/**
 * Puts the demo fleet's depots and vans into the register, once a data folder: what somebody changes there afterwards stays.
 * Resolves to whether it did anything. Rejects with what the command said.
 */
export async function fillRegister(options: {
  readonly root: string
  readonly dataDir: string
  readonly databaseUrl: string
}): Promise<boolean> {
  const environment = { ...process.env, DATABASE_URL: options.databaseUrl }
  let did = false
  for (const what of REGISTERS) {
    const done = join(options.dataDir, `${what}.imported`)
    if (existsSync(done)) continue
    const csv = join(options.dataDir, `${what}.csv`)
    const text = await run(process.execPath, [join('packages', 'fleet', 'dist', 'main.js'), '--register-csv', what], {
      cwd: options.root,
      environment,
    })
    writeFileSync(csv, text)
    await run(process.execPath, [join('packages', 'cli', 'dist', 'km0.js'), what, 'import', csv], { cwd: options.root, environment })
    writeFileSync(done, '')
    did = true
  }
  return did
}
