import type { OwnMap } from './own-map.ts'

/** Where the panel gives out an archive that lies on its own machine. */
export const OWN_TILES_PATH = '/api/map/tiles.pmtiles'

/** The customer's map out of the settings `KM0_MAP_STYLE_URL`, `KM0_MAP_PMTILES` (an address, or the path of a file) and `KM0_MAP_ATTRIBUTION`. */
export function ownMapOf(environment: Readonly<Record<string, string | undefined>>): OwnMap {
  const tiles = environment.KM0_MAP_PMTILES || null
  return {
    styleUrl: environment.KM0_MAP_STYLE_URL || null,
    tilesUrl: tiles === null || isAddress(tiles) ? tiles : OWN_TILES_PATH,
    attribution: environment.KM0_MAP_ATTRIBUTION || '© OpenStreetMap',
  }
}

/** Whether tiles are elsewhere, and not a file here. */
export function isAddress(tiles: string): boolean {
  return /^https?:\/\//.test(tiles)
}
