import type { AcknowledgementView, OutagesView, Scope, TrailPoint } from '@km0/contracts'
import type { PanelEvent } from './panel-events.ts'

/** How one thing that a source stands on is doing. */
export interface SourceHealth {
  readonly status: 'ok' | 'degraded' | 'down'
  readonly detail?: string
}

/** Where the panel's knowledge comes from: the store and the log in the product, a made-up fleet in tests. */
export interface PanelSource {
  /** Begins to give events, in any order and possibly twice. Resolves when everything that was stored has been given. */
  start(give: (event: PanelEvent) => void): Promise<void>
  stop(): Promise<void>
  /** Stores an acknowledgement. False when the scope may not see the van. Rejects when it could not; then nobody is told of it. */
  acknowledge(scope: Scope, view: AcknowledgementView): Promise<boolean>
  /** Where a van was, oldest first: what is stored from before this process began to listen. */
  readTrail(scope: Scope, van: string, fromMs: number, toMs: number): Promise<readonly TrailPoint[]>
  /** Outages of ours and silences in a span, as they are stored. */
  readOutages(scope: Scope, fromMs: number, toMs: number): Promise<OutagesView>
  /** End of each source partition as it was some seconds ago; null while that is not known. Must be quick: it is asked while nothing is heard. */
  endOffsets(): ReadonlyMap<number, number> | null
  /** By part: `kafka`, `postgres`. Must be quick. */
  health(): Readonly<Record<string, SourceHealth>>
}
