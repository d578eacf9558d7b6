import { describe, expect, it } from 'vitest'
import { startWaves, stopStages } from './order.ts'

const part = (name: string, dependsOn: string[] = [], stopStage = 0) => ({ name, dependsOn, stopStage })
const names = (groups: readonly (readonly { name: string }[])[]) => groups.map((group) => group.map(({ name }) => name))

describe('start', () => {
  it('puts each part behind what it depends on', () => {
    const waves = startWaves([part('fleet', ['bridge', 'panel']), part('panel', ['serving']), part('bridge'), part('serving')])
    expect(names(waves)).toEqual([['bridge', 'serving'], ['panel'], ['fleet']])
  })

  it('refuses a circle and an unknown part', () => {
    expect(() => startWaves([part('a', ['b']), part('b', ['a'])])).toThrow(/circle/)
    expect(() => startWaves([part('a', ['nobody'])])).toThrow(/nobody/)
  })
})

it('stops stage by stage', () => {
  expect(names(stopStages([part('panel', [], 4), part('fleet', [], 1), part('a', [], 3), part('b', [], 3)]))).toEqual([
    ['fleet'],
    ['a', 'b'],
    ['panel'],
  ])
})
