import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that mostly wait begin first: whatever runs beside them has the machine, and no other file waits for them at the end. */
const WAIT_LONGEST = ['test/browser/real-stack.test.ts']
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const waits = ({ moduleId }: TestSpecification) => WAIT_LONGEST.some((path) => moduleId.endsWith(path))
    const sorted = await super.sort(files)
    return [...sorted.filter(waits), ...sorted.filter((file) => !waits(file))]
  }
}

// One project a budget line of test/README.md. Suites that use real services run one file at a time, or two: the machine has two cores.
const slow = { pool: 'forks' as const, fileParallelism: false, testTimeout: 120_000, hookTimeout: 180_000 }

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: 'unit',
          include: [
            'packages/*/src/**/*.test.ts',
            'apps/*/src/**/*.test.ts',
            'infra/**/*.test.ts',
            'test/tidy/**/*.test.ts',
            'test/laws/**/*.test.ts',
            'test/parity/**/*.test.ts',
            'test/bench/**/*.test.ts',
          ],
          testTimeout: 60_000,
        },
      },
      // These mostly wait for a service to start: two files share the cores well.
      { test: { name: 'adapters', include: ['test/adapters/**/*.test.ts'], ...slow, fileParallelism: true, maxWorkers: 2 } },
      { test: { name: 'e2e', include: ['test/e2e/**/*.test.ts'], ...slow, testTimeout: 300_000 } },
      // Drawing in software fills one core a browser.
      {
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          ...slow,
          testTimeout: 300_000,
          // What a browser shows is waited for, however busy the machine.
          expect: { poll: { timeout: 30_000 } },
          fileParallelism: true,
          maxWorkers: 2,
        },
      },
      { test: { name: 'proofs', include: ['test/proofs/**/*.test.ts'], ...slow, testTimeout: 600_000 } },
      // Faults are mostly waited out.
      {
        test: { name: 'chaos', include: ['test/chaos/**/*.test.ts'], ...slow, testTimeout: 300_000, fileParallelism: true, maxWorkers: 2 },
      },
    ],
  },
})
