import type { AcknowledgementView } from '@km0/contracts'
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
  /** Stores an acknowledgement. Rejects when it could not; then nobody is told of it. */
  acknowledge(view: AcknowledgementView): Promise<void>
  /** By part: `kafka`, `postgres`. Must be quick. */
  health(): Readonly<Record<string, SourceHealth>>
}
