import { EnvironmentError, parseEnvironment } from '@km0/runtime'
import { describe, expect, it } from 'vitest'
import { bridgeEnvironment } from './settings.ts'
import { filterFault, ownPartitions, parsePartitions } from './share.ts'

const parse = (environment: Record<string, string>) => parseEnvironment(bridgeEnvironment, environment)

describe('share of the fleet', () => {
  it('reads lists and ranges of partitions', () => {
    expect(parsePartitions('0-2, 5')).toEqual([0, 1, 2, 5])
    expect(parsePartitions('4')).toEqual([4])
    for (const wrong of ['', '1,', '-1', '2-1', 'a', '1.5', '0-2,1', '0-99999', '1;2']) expect(parsePartitions(wrong), wrong).toBeNull()
  })

  it('takes filters of known formats only', () => {
    for (const filter of ['km0/repartidors/nord/+/posicio', 'owntracks/nord/#', '/hfp/v2/journey/ongoing/vp/bus/0018/#', 'owntracks/#'])
      expect(filterFault(filter), filter).toBeNull()
    for (const filter of ['', '#', 'altres/#', 'owntracks/#/x', 'owntracks/nord+', '$share/g/owntracks/#', 'km0/rellotge'])
      expect(filterFault(filter), filter).not.toBeNull()
  })

  it('wants filters and partitions together, and says what is missing and why', () => {
    expect(parse({ KM0_BRIDGE_FILTERS: 'owntracks/nord/#,owntracks/est/#', KM0_BRIDGE_PARTITIONS: '0-2' })).toMatchObject({
      KM0_BRIDGE_FILTERS: ['owntracks/nord/#', 'owntracks/est/#'],
      KM0_BRIDGE_PARTITIONS: [0, 1, 2],
    })
    expect(parse({})).toMatchObject({ KM0_BRIDGE_CLIENT_ID: 'km0-pont' })
    expect(() => parse({ KM0_BRIDGE_FILTERS: 'owntracks/nord/#' })).toThrow(/KM0_BRIDGE_PARTITIONS: must be set too/)
    expect(() => parse({ KM0_BRIDGE_PARTITIONS: '0' })).toThrow(/KM0_BRIDGE_FILTERS: must be set too/)
    expect(() => parse({ KM0_BRIDGE_FILTERS: 'owntracks/+,altres/#', KM0_BRIDGE_PARTITIONS: 'x' })).toThrow(EnvironmentError)
  })

  it('takes its partitions out of those of the topic, and refuses one that is not there', () => {
    const inForce = new Map([0, 1, 2].map((partition) => [partition, `p${partition}`]))
    expect(ownPartitions(inForce, undefined)).toEqual(inForce)
    expect([...ownPartitions(inForce, [0, 2])]).toEqual([
      [0, 'p0'],
      [2, 'p2'],
    ])
    expect(() => ownPartitions(inForce, [2, 3, 7])).toThrow('names 3, 7, but the topic of positions has 3 partitions')
  })
})
