import { describe, expect, test } from 'vitest'
import { ownTilesStyle } from './own-map.ts'
import { isAddress, OWN_TILES_PATH, ownMapOf } from './own-map-settings.ts'
import { basemapStyle } from './style.ts'

describe("a customer's map", () => {
  test('is none without settings', () => {
    expect(ownMapOf({})).toEqual({ styleUrl: null, tilesUrl: null, attribution: '© OpenStreetMap' })
    expect(ownMapOf({ KM0_MAP_STYLE_URL: '', KM0_MAP_PMTILES: '' })).toMatchObject({ styleUrl: null, tilesUrl: null })
  })

  test('may be a file here, which the panel gives out, or an address', () => {
    expect(ownMapOf({ KM0_MAP_PMTILES: '/srv/girona.pmtiles' }).tilesUrl).toBe(OWN_TILES_PATH)
    expect(ownMapOf({ KM0_MAP_PMTILES: 'https://tiles.example/girona.pmtiles' }).tilesUrl).toBe('https://tiles.example/girona.pmtiles')
    expect(isAddress('httpsdocs/girona.pmtiles')).toBe(false)
  })

  test.each(['dark', 'light'] as const)('puts its roads under the borders and names of the offline map (%s)', (theme) => {
    const base = basemapStyle(theme, 'http://panel', 1)
    const style = ownTilesStyle(base, theme, OWN_TILES_PATH, 'http://panel', '© somebody')
    expect(style.sources.own).toEqual({ type: 'vector', url: 'pmtiles://http://panel/api/map/tiles.pmtiles', attribution: '© somebody' })
    const ids = style.layers.map(({ id }) => id)
    const own = ids.filter((id) => id.startsWith('own-'))
    expect(own).toContain('own-roads-major')
    expect(own).toContain('own-transportation-major')
    for (const id of own) {
      expect(ids.indexOf(id)).toBeGreaterThan(ids.indexOf('comarques'))
      expect(ids.indexOf(id)).toBeLessThan(ids.indexOf('border-near'))
    }
    // Nothing of the offline map is lost.
    expect(ids.filter((id) => !id.startsWith('own-'))).toEqual(base.layers.map(({ id }) => id))
    expect(new Set(ids).size).toBe(ids.length)
  })
})
