import type { OwnerSpan } from '@km0/backfill'
import type { PositionsSettings, StockSettings } from '@km0/contracts'
import { readBatchInput, readStockRange } from '@km0/lake'
import { createStockBatch } from '@km0/pipelines'
import { positionsBatchInto } from '@km0/pipelines/positions/positions-columns'
import { type FrozenVersion, type OpenPiece, type PieceOutcome, PieceRows } from '@km0/serving'
import { type BackfillContext, RefusedError } from './context.ts'

/** Tells how far a piece is, between 0 and 1. */
export type Share = (share: number) => Promise<void>

const READ_SHARE = 0.4
const COMPUTED_SHARE = 0.8

/** Computes a piece of a version and stores its rows. Running it again, or twice at once, changes nothing. */
export async function runPiece(context: BackfillContext, version: number, number: number, share: Share): Promise<PieceOutcome> {
  const { store } = context
  const frozen = await store.readFrozen(version)
  if (frozen === null || frozen.state !== 'running') return 'stopped'
  const piece = (await store.openPieces(version)).find(({ piece }) => piece === number)
  if (piece === undefined) return 'done'
  const rows =
    frozen.request.pipeline === 'positions'
      ? await positionsPiece(context, frozen, piece, share)
      : await stockPiece(context, frozen, piece, share)
  await share(COMPUTED_SHARE)
  return store.storePiece(version, number, rows, context.nowMs())
}

async function positionsPiece({ lake }: BackfillContext, frozen: FrozenVersion, piece: OpenPiece, share: Share): Promise<PieceRows> {
  const settings = frozen.settings as PositionsSettings
  const range = { fromMs: piece.fromMs, toMs: piece.toMs }
  const columns = await readBatchInput(lake, {
    ...range,
    // Days are summed from their hours, so points from the start of the day are not needed.
    needsFromMs: piece.fromMs - settings.windowSizeMs - Math.max(settings.maxSegmentMs, settings.sessionGapMs),
    sessionGapMs: settings.sessionGapMs,
    maxGapMs: settings.maxAgeMs,
    snapshot: frozen.snapshot,
    vans: piece.owners,
    expectedRows: piece.points,
  }).catch((error) => {
    throw explained(error, frozen)
  })
  await share(READ_SHARE)
  const rows = new PieceRows(frozen.id)
  const spans = new Map<string, OwnerSpan>(frozen.spans.map((span) => [span.owner, span]))
  positionsBatchInto(
    columns,
    {
      distance: (van, startMs, endMs, row) => {
        if (!piece.sessionsOnly) rows.distance(van.name, startMs, endMs, row)
      },
      session: (van, session) => {
        const span = spans.get(van.name)
        const isWanted = !piece.sessionsOnly || (span !== undefined && session.startMs >= span.fromMs && session.startMs < span.toMs)
        if (isWanted) rows.session(van.name, session.startMs, session.lastMs, session.count)
      },
      travel: (van, period, row) => {
        if (!piece.sessionsOnly && period === 'hora') rows.travelHour(van.name, row.startMs, row)
      },
    },
    settings,
    range,
  )
  return rows
}

async function stockPiece({ lake }: BackfillContext, frozen: FrozenVersion, piece: OpenPiece, share: Share): Promise<PieceRows> {
  const range = { fromMs: piece.fromMs, toMs: piece.toMs }
  const events = await readStockRange(lake, { ...range, markets: piece.owners, snapshot: frozen.snapshot }).catch((error) => {
    throw explained(error, frozen)
  })
  await share(READ_SHARE)
  const batch = createStockBatch(frozen.settings as StockSettings, range)
  for (const { partition, offset, timestampMs, text } of events)
    batch.onRecord(partition, offset, timestampMs, null, text, Buffer.byteLength(text), true)
  const rows = new PieceRows(frozen.id)
  for (const { value } of batch.rows()) {
    const row = JSON.parse(value) as {
      producte: string
      mercat: string
      inici_ms: number
      fi_ms: number
      estoc_minim: number
      actualitzacions: number
    }
    rows.alert(row.producte, row.mercat, row.inici_ms, row.fi_ms, row.estoc_minim, row.actualitzacions)
  }
  return rows
}

/** The frozen version of the lake is kept for a day only. */
function explained(error: unknown, { snapshot }: FrozenVersion): unknown {
  if (error instanceof Error && /snapshot.*(not exist|found|expired)|No snapshot/i.test(error.message))
    return new RefusedError(`version ${snapshot} of the lake is no longer kept (KM0_LAKE_KEEP_SNAPSHOTS_MS): run the backfill again`)
  return error
}

/** Notes that a version is complete, compares it with what is served, and drops what is older than the versions kept. */
export async function finish({ store, limits, nowMs }: BackfillContext, version: number): Promise<boolean> {
  const open = await store.openPieces(version)
  if (open.length > 0 || !(await store.complete(version, nowMs()))) return false
  const { added, removed, changed } = await store.difference(version)
  await store.writeLog(version, `complete: against what is served ${added} rows more, ${removed} less, ${changed} others`, nowMs())
  for (const dropped of await store.dropOlderVersions(version, limits.keepVersions, nowMs()))
    await store.writeLog(version, `${dropped.hours} hours of version ${dropped.version} dropped: newer ones are kept`, nowMs())
  return true
}
