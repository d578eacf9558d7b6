import { createHash } from 'node:crypto'
import { BACKFILL_KINDS, TOPICS } from '@km0/contracts'
import { POSITIONS, STOCK_EVENTS } from '@km0/lake'
import type { DueRunEvent, RunFacts, RunKind } from '@km0/serving'

/** Where the datasets of this installation are. */
export interface Places {
  /** Name of this installation. */
  readonly namespace: string
  /** Without a password: scheme, host and port. */
  readonly databaseUrl: string
  readonly brokers: readonly string[]
  /** Folder of the lake, or s3://bucket/prefix. */
  readonly lakeData: string | null
}

const PRODUCER = 'urn:quilometre-zero:batch'
const EVENT_SCHEMA = 'https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent'
const FACETS = {
  nominalTime: '1-0-1/NominalTimeRunFacet',
  errorMessage: '1-0-1/ErrorMessageRunFacet',
  processing_engine: '1-1-1/ProcessingEngineRunFacet',
  jobType: '2-0-4/JobTypeJobFacet',
  documentation: '1-1-0/DocumentationJobFacet',
  version: '1-0-1/DatasetVersionDatasetFacet',
  inputStatistics: '1-0-0/InputStatisticsInputDatasetFacet',
} as const

const JOBS: Readonly<Record<RunKind, string>> = {
  backfill: 'Computes a range of hours again from the lake, as a version beside what is served',
  publish: 'Moves pointers to a version: it is served from now on',
  rollback: 'Moves pointers back to what was served before a publication',
  reprocess: "Runs the live job's code over the lake and then the log, as a version beside what is served",
}

const VERSION_SCHEMA = 'urn:quilometre-zero:facet:version:1'
const LAKE_TABLES = { positions: POSITIONS.name, stock: STOCK_EVENTS.name } as const

type Facets = Readonly<Record<string, object>>

function facet(name: keyof typeof FACETS, content: object): Facets {
  const [version, type] = FACETS[name].split('/') as [string, string]
  const url = `https://openlineage.io/spec/facets/${version}/${type}.json#/$defs/${type}`
  return { [name]: { _producer: PRODUCER, _schemaURL: url, ...content } }
}

const iso = (ms: number) => new Date(ms).toISOString()

/**
 * A run event as OpenLineage has it (https://openlineage.io/docs/spec/object-model). The id of a run is made of its name, so that an event
 * that is told twice is the same event. No van, person or position is in it.
 */
export function runEventOf(due: DueRunEvent, places: Places): object {
  const { kind, event, of } = due
  return {
    eventType: event,
    eventTime: iso(due.atMs),
    producer: PRODUCER,
    schemaURL: EVENT_SCHEMA,
    run: {
      runId: uuidOf(`${places.namespace}/${due.run}`),
      facets: {
        ...facet('processing_engine', { name: 'km0', version: of?.code ?? 'unknown' }),
        ...(of === null ? {} : facetsOf(of)),
        ...(event === 'FAIL' ? facet('errorMessage', { message: due.error ?? 'failed', programmingLanguage: 'TypeScript' }) : {}),
      },
    },
    job: {
      namespace: places.namespace,
      name: kind,
      facets: {
        ...facet('jobType', { processingType: kind === 'reprocess' ? 'STREAMING' : 'BATCH', integration: 'KM0', jobType: 'JOB' }),
        ...facet('documentation', { description: JOBS[kind] }),
      },
    },
    inputs: of === null ? [] : inputsOf(kind, of, places),
    outputs: of === null ? [] : outputsOf(kind, of, places),
  }
}

function facetsOf({ version, publication, undoes, movedHours, rows, fromMs, toMs }: RunFacts): Facets {
  return {
    ...facet('nominalTime', { nominalStartTime: iso(fromMs), nominalEndTime: iso(toMs) }),
    km0_version: { _producer: PRODUCER, _schemaURL: VERSION_SCHEMA, version, rows, publication, undoes, movedHours },
  }
}

function inputsOf(kind: RunKind, of: RunFacts, places: Places): object[] {
  if (kind === 'publish') return versionTables(of.pipeline, of.version, places)
  // What is served after a roll back is what stood before: other versions, or the live rows where nothing was published.
  if (kind === 'rollback') {
    const versions = of.before.flatMap((version) => versionTables(of.pipeline, version, places))
    return versions.length > 0 ? versions : versionTables(of.pipeline, of.version, places)
  }
  const lake = {
    ...lakeDataset(of.pipeline, places),
    facets: facet('version', { datasetVersion: String(of.snapshot) }),
    inputFacets: facet('inputStatistics', { rowCount: of.points }),
  }
  if (kind === 'backfill') return [lake]
  return [lake, { namespace: `kafka://${hostOf(places.brokers[0] ?? 'localhost:9092')}`, name: TOPICS.positions.name }]
}

function outputsOf(kind: RunKind, of: RunFacts, places: Places): object[] {
  if (kind === 'backfill' || kind === 'reprocess') return versionTables(of.pipeline, of.version, places)
  const facets = facet('version', { datasetVersion: `publication ${of.publication}` })
  return BACKFILL_KINDS[of.pipeline].map((result) => ({ ...table(`served_${result}`, places), facets }))
}

function versionTables(pipeline: RunFacts['pipeline'], version: number, places: Places): object[] {
  const facets = facet('version', { datasetVersion: String(version) })
  return BACKFILL_KINDS[pipeline].map((result) => ({ ...table(`version_${result}`, places), facets }))
}

function table(name: string, { databaseUrl }: Places): { namespace: string; name: string } {
  const { hostname, port, pathname } = new URL(databaseUrl)
  return { namespace: `postgres://${hostname}:${port || 5432}`, name: `${pathname.slice(1) || 'km0'}.km0.${name}` }
}

/** https://openlineage.io/docs/spec/naming: a bucket is a namespace; so is `file`. */
function lakeDataset(pipeline: RunFacts['pipeline'], { lakeData }: Places): { namespace: string; name: string } {
  const [, bucket, prefix] = /^(s3:\/\/[^/]+)\/?(.*)$/.exec(lakeData ?? '') ?? []
  const folder = (prefix ?? lakeData ?? 'lake').replace(/\/+$/, '')
  return { namespace: bucket ?? 'file', name: [folder, LAKE_TABLES[pipeline]].filter((part) => part !== '').join('/') }
}

/** `host:port` of a broker's address, without what it says of users. */
const hostOf = (broker: string) =>
  broker
    .replace(/^[a-z]+:\/\//, '')
    .replace(/^.*@/, '')
    .replace(/[/?].*$/, '')

/** A UUID of version 8 (RFC 9562) of a name: the same for the same name. */
function uuidOf(name: string): string {
  const bytes = createHash('sha256').update(name).digest().subarray(0, 16)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
