import { build } from 'esbuild'
import { describe, expect, it } from 'vitest'

describe('the core as one file', () => {
  it('has no imports, names no clock and no I/O, and runs in an engine that has nothing but the language', async () => {
    const { outputFiles, metafile } = await build({
      entryPoints: ['packages/pipelines/src/index.ts'],
      bundle: true,
      write: false,
      metafile: true,
      format: 'iife',
      globalName: 'km0',
      platform: 'neutral',
      mainFields: ['module', 'main'],
      conditions: ['import'],
    })
    const [output] = Object.values(metafile.outputs)
    expect(output?.imports).toEqual([])
    const text = outputFiles[0]!.text
    expect(text).toContain('haversineMm')
    expect(text).not.toMatch(/\bnew Date\b|Date\.now|Math\.random|setTimeout|process\.|require\(/)
    // Parameters hide what Node and browsers have.
    const hidden = ['process', 'globalThis', 'console', 'Intl', 'Date', 'Buffer', 'TextDecoder', 'setTimeout', 'performance', 'fetch']
    const create = new Function(...hidden, `${text}; return km0.createPositionsHost()`)
    const host = create()
    const value = '{"repartidor":"a","lat":41.98,"lon":2.82,"data_ms":1789380000000}'
    host.onRecord(0, 0, 1_789_380_000_500, 'a', value, value.length, true)
    expect(host.drain().map(({ output }: { output: string }) => output)).toEqual(['panell', 'viu'])
    expect(host.snapshot()).toContain('"pipeline":"positions"')
  })
})
