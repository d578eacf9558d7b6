/** Which room may import which other room of ours, and which npm package has which owner. A new arrow needs an ADR. */

export interface Room {
  /** Rooms of ours it may import. */
  readonly mayImport: readonly string[]
  /** Pure: no I/O, no clock, no randomness, no Node module. */
  readonly pure?: true
}

export const ROOMS: Readonly<Record<string, Room>> = {
  'packages/contracts': { mayImport: [], pure: true },
  'packages/windowing': { mayImport: [], pure: true },
  'packages/pipelines': { mayImport: ['packages/contracts', 'packages/windowing'], pure: true },
  'packages/backfill': { mayImport: ['packages/contracts'], pure: true },
  'packages/runtime': { mayImport: [] },
  'packages/transport': { mayImport: ['packages/contracts'] },
  'packages/checkpoints': { mayImport: [] },
  'packages/serving': { mayImport: ['packages/backfill', 'packages/contracts'] },
  'packages/signin': { mayImport: ['packages/contracts', 'packages/serving'] },
  'packages/lake': { mayImport: ['packages/contracts'] },
  'packages/ledger': { mayImport: ['packages/contracts'], pure: true },
  'packages/audit': {
    mayImport: ['packages/contracts', 'packages/lake', 'packages/ledger', 'packages/pipelines', 'packages/serving', 'packages/transport'],
  },
  'packages/fleet': { mayImport: ['packages/contracts', 'packages/runtime', 'packages/transport'] },
  'packages/cli': {
    mayImport: [
      'packages/audit',
      'packages/checkpoints',
      'packages/contracts',
      'packages/lake',
      'packages/pipelines',
      'packages/runtime',
      'packages/serving',
      'packages/signin',
      'packages/transport',
    ],
  },
  'packages/testkit': { mayImport: ['infra'] },
  'apps/bridge': { mayImport: ['packages/contracts', 'packages/runtime', 'packages/transport'] },
  'apps/stream': {
    mayImport: [
      'packages/checkpoints',
      'packages/contracts',
      'packages/lake',
      'packages/pipelines',
      'packages/runtime',
      'packages/serving',
      'packages/transport',
    ],
  },
  'apps/batch': {
    mayImport: [
      'packages/audit',
      'packages/backfill',
      'packages/contracts',
      'packages/lake',
      'packages/pipelines',
      'packages/runtime',
      'packages/serving',
      'packages/transport',
    ],
  },
  'apps/dashboard': {
    mayImport: ['packages/contracts', 'packages/lake', 'packages/runtime', 'packages/serving', 'packages/signin', 'packages/transport'],
  },
  infra: { mayImport: ['packages/contracts', 'packages/runtime', 'packages/transport', 'packages/serving'] },
}

/** npm package -> the only rooms that may import it. */
export const OWNERS: Readonly<Record<string, readonly string[]>> = {
  '@aws-sdk/client-s3': ['packages/checkpoints'],
  nodemailer: ['apps/batch'],
  kafkajs: ['packages/transport'],
  mqtt: ['packages/transport'],
  bullmq: ['packages/transport'],
  pg: ['packages/serving'],
  'pg-copy-streams': ['packages/serving'],
  '@duckdb/node-api': ['packages/lake'],
  '@turf/distance': ['packages/pipelines'],
  'better-auth': ['packages/signin'],
  pino: ['packages/runtime'],
  'prom-client': ['packages/runtime'],
  next: ['apps/dashboard'],
  'socket.io': ['apps/dashboard'],
  'socket.io-client': ['apps/dashboard'],
  'maplibre-gl': ['apps/dashboard'],
  uplot: ['apps/dashboard'],
  aedes: ['infra'],
  'aedes-persistence-level': ['infra'],
}
