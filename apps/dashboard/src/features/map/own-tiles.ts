import { addProtocol } from 'maplibre-gl'
import { Protocol } from 'pmtiles'

let opened = false

/** Lets sources begin with `pmtiles://`. Once a page. */
export function openOwnTiles(): void {
  if (opened) return
  opened = true
  addProtocol('pmtiles', new Protocol().tile)
}
