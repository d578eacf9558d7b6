import { type ChildProcess, spawn } from 'node:child_process'
import { expect, it } from 'vitest'
import { RestartedProcess } from './restarted-process.ts'

/** Works until it has had a fifth of a second of CPU, says so, and waits to be killed. */
const WORK = `while (process.cpuUsage().user + process.cpuUsage().system < 200_000);
  console.log('done'); setInterval(() => undefined, 1_000)`

it('what a program cost until it was killed counts beside its successor', async () => {
  const done: Promise<unknown>[] = []
  const start = (): ChildProcess => {
    const child = spawn(process.execPath, ['-e', WORK], { stdio: ['ignore', 'pipe', 'ignore'] })
    done.push(new Promise((resolve) => child.stdout.once('data', resolve)))
    return child
  }
  const program = new RestartedProcess(start)
  await done[0]
  const before = program.usage()
  await program.again()
  await done[1]
  const after = program.usage()
  await program.end()
  // Ticks are hundredths of a second.
  expect(before.cpuSeconds).toBeGreaterThanOrEqual(0.18)
  expect(after.cpuSeconds - before.cpuSeconds).toBeGreaterThanOrEqual(0.18)
  expect(after.peakRssMb).toBeGreaterThanOrEqual(before.peakRssMb)
  // Of one that is no more, what was seen last: it may have grown until then, and does no more.
  const last = program.usage()
  expect(last.cpuSeconds).toBeGreaterThanOrEqual(after.cpuSeconds)
  expect(program.usage()).toEqual(last)
})
