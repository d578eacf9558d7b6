import type { Marker, MarkerIcon } from './prepare-markers.ts'

/** From this zoom on vans that are heard have their names. */
export const NAMES_FROM_ZOOM = 11
/** More texts than this cannot be read. */
export const LABELS_MAX = 300

/** `silent` and `old` stand for a marker to which place names give way. */
export type LabelKind = 'silent' | 'old' | 'name' | 'selected' | 'hovered'

export interface Label {
  readonly kind: LabelKind
  readonly van: string
  readonly lon: number
  readonly lat: number
  readonly label: string
  readonly age: string
  readonly icon: MarkerIcon
}

export interface LabelView {
  readonly selected: string | null
  readonly hovered: string | null
  readonly zoom: number
  readonly isInView: (lon: number, lat: number) => boolean
}

/** Texts beside markers: of those that need somebody's eyes, of the selected and the hovered one, and from near of all that are in view. */
export function prepareLabels(markers: readonly Marker[], view: LabelView): Label[] {
  const labels: Label[] = []
  const counts: Record<LabelKind, number> = { silent: 0, old: 0, name: 0, selected: 0, hovered: 0 }
  const names = view.zoom >= NAMES_FROM_ZOOM
  const kindOf = (marker: Marker): LabelKind | null => {
    if (marker.van === view.selected) return 'selected'
    if (marker.van === view.hovered) return 'hovered'
    if (marker.level === 2) return 'silent'
    if (marker.level === 1) return 'old'
    return names ? 'name' : null
  }
  for (const marker of markers) {
    const kind = kindOf(marker)
    if (kind === null || counts[kind] >= LABELS_MAX || (kind !== 'selected' && !view.isInView(marker.lon, marker.lat))) continue
    counts[kind] += 1
    const { van, lon, lat, label, age, icon } = marker
    labels.push({ kind, van, lon, lat, label, age, icon })
  }
  return labels
}
