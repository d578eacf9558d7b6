import { defineConfig } from 'vitest/config'

// One project a budget line of test/README.md. Suites that use real services run one file at a time, or two: the machine has two cores.
const slow = { pool: 'forks' as const, fileParallelism: false, testTimeout: 120_000, hookTimeout: 180_000 }

export default defineConfig({
  test: {
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
