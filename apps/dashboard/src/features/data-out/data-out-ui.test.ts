import type { DeliveryView } from '@km0/contracts/data-out'
import { describe, expect, test } from 'vitest'
import { clockOf, deliveriesIn, EMPTY_FORM, exportPath, isComplete, minutesOf, subscriptionBody } from './prepare-subscription.ts'

const form = { ...EMPTY_FORM, name: 'Torn', target: 'https://example.com/' }

describe('the form of a subscription', () => {
  test('is complete when something goes to somebody', () => {
    expect(isComplete(form)).toBe(true)
    for (const lack of [{ name: ' ' }, { target: '' }, { kinds: [] }, { kinds: [], hasReport: true, reportAt: '' }]) {
      expect(isComplete({ ...form, ...lack })).toBe(false)
    }
    expect(isComplete({ ...form, kinds: [], hasReport: true })).toBe(true)
    expect(isComplete({ ...form, channel: 'folder', target: '', kinds: [] })).toBe(true)
  })

  test('is sent as the server takes it', () => {
    expect(subscriptionBody({ ...form, depots: ' girona , vic,', hasReport: true, reportAt: '07:30' })).toEqual({
      ...{ name: 'Torn', channel: 'webhook', target: 'https://example.com/', locale: 'ca', leastStepMs: 180_000 },
      ...{ kinds: ['no-signal', 'returned', 'low-stock'], reportMinutes: 450, depots: ['girona', 'vic'], markets: null },
    })
    expect(subscriptionBody({ ...form, channel: 'folder' })).toMatchObject({ target: '', kinds: [], reportMinutes: 360 })
  })

  test('times of day', () => {
    expect(['00:00', '23:59', '24:00', '6:00', ''].map(minutesOf)).toEqual([0, 1_439, null, null, null])
    expect([0, 450, 1_439].map(clockOf)).toEqual(['00:00', '07:30', '23:59'])
  })
})

test('deliveries by state', () => {
  const rows = [{ state: 'sent' }, { state: 'dead' }] as DeliveryView[]
  expect(deliveriesIn(rows, null)).toHaveLength(2)
  expect(deliveriesIn(rows, 'dead').map(({ state }) => state)).toEqual(['dead'])
})

test('addresses of exports', () => {
  expect(exportPath('fleet', 'csv', { depot: 'a&b', bom: '1' })).toBe('/api/fleet.csv?depot=a%26b&bom=1')
  expect(exportPath('fleet', 'geojson', { depot: 'a', bom: '' })).toBe('/api/fleet.geojson?depot=a')
  expect(exportPath('stock', 'csv')).toBe('/api/stock.csv')
})
