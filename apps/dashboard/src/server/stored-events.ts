import type { DistanceView, SignalView } from '@km0/contracts'
import type { StoredPanel } from '@km0/serving'
import type { PanelEvent } from './panel-events.ts'

/** What is stored, as events. Where in the log each comes from is not stored with it, so the first record of the log wins over it. */
export function storedEvents(stored: StoredPanel): PanelEvent[] {
  return [
    { kind: 'register', depots: stored.depots, registered: stored.registered },
    ...stored.signals.map(signalEvent),
    ...stored.distances.map(distanceEvent),
    ...stored.acknowledgements.map((view): PanelEvent => ({ kind: 'acknowledgement', view })),
  ]
}

function signalEvent(view: SignalView): PanelEvent {
  const estat = view.state === 'signal' ? 'amb-senyal' : 'sense-senyal'
  return { kind: 'signal', source: null, value: { tipus: 'senyal', repartidor: view.van, estat, des_de_ms: view.sinceMs } }
}

function distanceEvent(view: DistanceView): PanelEvent {
  return {
    kind: 'distance',
    source: null,
    value: {
      tipus: 'distancia',
      repartidor: view.van,
      inici_ms: view.windowStartMs,
      fi_ms: view.windowEndMs,
      distancia_mm: view.distanceMm,
      posicions: view.positions,
      salts: view.jumps,
      desplacament_mm: view.displacementMm,
      ...(view.revision === 0 ? {} : { revisio: view.revision }),
    },
  }
}
