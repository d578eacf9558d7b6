import type {
  AcknowledgementView,
  Depot,
  DistanceValue,
  LiveValue,
  MarkValue,
  OutageValue,
  RegisteredVan,
  SignalValue,
  SourcePosition,
} from '@km0/contracts'
import type { DispatchFacts } from './dispatch/dispatch-state.ts'

/** Something that the panel learns. `source` is where in the log it comes from; null when its record did not say. */
export type PanelEvent =
  | { readonly kind: 'point'; readonly value: LiveValue; readonly source: SourcePosition | null; readonly batteryPercent?: number | null }
  | { readonly kind: 'signal'; readonly value: SignalValue; readonly source: SourcePosition | null }
  | { readonly kind: 'distance'; readonly value: DistanceValue; readonly source: SourcePosition | null }
  | { readonly kind: 'mark'; readonly value: MarkValue }
  | { readonly kind: 'outage'; readonly value: OutageValue }
  | { readonly kind: 'acknowledgement'; readonly view: AcknowledgementView }
  | { readonly kind: 'register'; readonly depots: readonly Depot[]; readonly registered: readonly RegisteredVan[] }
  | { readonly kind: 'dispatch'; readonly facts: DispatchFacts }
