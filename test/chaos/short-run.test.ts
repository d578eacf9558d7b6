// `pnpm chaos` as a person runs it, with a short seed: kill -9 of broker, windowing job and bridge, SIGTERM of the broker, and a judgement.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const WORDS = ['--seed', '120', '--minutes', '0.4', '--vans', '20']
/** Seen: 60 s; other work on the machine may take it three times as long, and every wait of the run has a bound of its own. */
const WITHIN_MS = 480_000

it(
  'nothing is lost, doubled or wrong after a short run of chaos',
  async () => {
    const child = spawn(process.execPath, ['--import', 'tsx', 'test/chaos/run/main.ts', ...WORDS], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    // A run that takes too long is ended, and ends what it has started.
    onTestFinished(() => void child.kill('SIGTERM'))
    let said = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk))
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
    console.log(said)
    expect(code, said).toBe(0)
    expect(said).toMatch(/^\d{2} passed, 0 failed$/m)
    for (const fault of ['kill -9 of mqtt', 'kill -9 of stream-positions', 'kill -9 of bridge', 'SIGTERM of mqtt']) {
      expect(said).toMatch(new RegExp(`${fault}: results after \\d`))
    }
  },
  WITHIN_MS,
)
