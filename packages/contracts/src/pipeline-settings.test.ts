import { describe, expect, it } from 'vitest'
import { DEFAULT_POSITIONS_SETTINGS, DEFAULT_STOCK_SETTINGS } from './host.ts'
import type { PipelineSettings } from './pipeline-settings.ts'
import { describeSettingsProblems, parsePipelineSettings } from './pipeline-settings-file.ts'

function settings(text: string | null, variables: Record<string, string> = {}): PipelineSettings {
  const parsed = parsePipelineSettings(text, variables)
  if ('problems' in parsed) throw new Error(describeSettingsProblems(parsed.problems, 'km0.jsonc'))
  return parsed.settings
}

function problems(text: string | null, variables: Record<string, string> = {}): string {
  const parsed = parsePipelineSettings(text, variables)
  return 'problems' in parsed ? describeSettingsProblems(parsed.problems, 'km0.jsonc') : 'none'
}

describe('settings of the pipelines', () => {
  it('are the defaults of the semantics page, with 5 minutes of allowed lateness for stock', () => {
    expect(settings(null)).toEqual({
      positions: { ...DEFAULT_POSITIONS_SETTINGS, version: 1 },
      stock: { ...DEFAULT_STOCK_SETTINGS, allowedLatenessMs: 300_000, version: 1 },
    })
    expect(settings('// nothing yet\n{}')).toEqual(settings(null))
  })

  it('take a slide of 30 s, thresholds by product and market, comments and a trailing comma', () => {
    const text = `{
      // finer
      "positions": { "slideMs": 30000, "version": 2 },
      "stock": { "threshold": 12, "thresholds": { "llet|girona": 20, "*|olot": 5, }, },
    }`
    const { positions, stock } = settings(text)
    expect(positions).toMatchObject({ slideMs: 30_000, windowSizeMs: 300_000, version: 2 })
    expect(stock).toMatchObject({ threshold: 12, thresholds: { 'llet|girona': 20, '*|olot': 5 } })
  })

  it('let a variable win over the file', () => {
    const text = '{ "stock": { "threshold": 12, "delayMs": 1000 } }'
    expect(settings(text, { KM0_STOCK_THRESHOLD: '3', KM0_POSITIONS_TOP_SPEED_MM_PER_MS: '55.5', KM0_STOCK_DELAY_MS: '' })).toMatchObject({
      stock: { threshold: 3, delayMs: 1000 },
      positions: { topSpeedMmPerMs: 55.5 },
    })
  })

  it.each([
    ['{\n  "stock": {\n    "treshold": 5\n  }\n}', 'km0.jsonc:3: stock.treshold: there is no such setting'],
    [
      '{\n  "positions": {\n    "windowSizeMs": 300000,\n    "slideMs": 70000\n  }\n}',
      'km0.jsonc:4: positions.slideMs: must divide windowSizeMs',
    ],
    ['{\n  "stock": {\n    "delayMs": -1 } }', 'km0.jsonc:3: stock.delayMs:'],
    ['{\n\n  "stock": { "thresholds": {\n "llet": 4 } } }', 'km0.jsonc:4: stock.thresholds.llet:'],
    ['{\n  "stock": 5\n}', 'km0.jsonc:2: stock:'],
    ['{\n  "stock": {\n', 'km0.jsonc:3: is not JSON with comments'],
    ['[]', 'km0.jsonc:1: must be an object'],
    ['{ "positions": { "windowSizeMs": 90000 } }', 'km0.jsonc:1: positions.slideMs: must divide windowSizeMs (90000)'],
  ])('name line and reason of %j', (text, message) => {
    expect(problems(text)).toContain(message)
  })

  it('name the variable that is wrong', () => {
    expect(problems(null, { KM0_STOCK_THRESHOLD: 'ten' })).toContain('KM0_STOCK_THRESHOLD: "ten" is neither a number')
    expect(problems(null, { KM0_POSITIONS_SLIDE_MS: '70000' })).toContain('KM0_POSITIONS_SLIDE_MS: positions.slideMs: must divide')
    expect(problems(null, { KM0_STOCK_ALLOWED_LATENESS_MS: '3600001' })).toContain('KM0_STOCK_ALLOWED_LATENESS_MS:')
  })
})
