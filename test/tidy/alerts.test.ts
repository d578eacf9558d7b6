import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const rules = readFileSync('infra/prometheus/alerts.yml', 'utf8')
const documented = new Set(
  [...readFileSync('docs/metrics.md', 'utf8').matchAll(/^\| `(km0_\w+)` \| (\w+)/gm)].flatMap(([, name = '', type]) =>
    type === 'histogram' ? ['_bucket', '_sum', '_count'].map((end) => name + end) : [name],
  ),
)
const recorded = new Set([...rules.matchAll(/- record: (\S+)/g)].map(([, name = '']) => name))
const unknown = (text: string) =>
  [...text.matchAll(/\bkm0[_:][\w:]+/g)].map(([name]) => name).filter((name) => !documented.has(name) && !recorded.has(name))

const alerts = [...rules.matchAll(/- alert: (\w+)([\s\S]*?)(?=\n {6}- |$)/g)].map(([, name = '', body = '']) => ({
  name,
  runbook: /runbook: (\S+)/.exec(body)?.[1] ?? 'none',
}))

describe('infra/prometheus', () => {
  it('every metric of a rule is in docs/metrics.md', () => {
    expect(recorded.size).toBeGreaterThan(0)
    expect(unknown(rules)).toEqual([])
  })

  it('every alert has a runbook of symptom, cause and command, and every runbook an alert', () => {
    expect(alerts.length).toBe(rules.split('- alert:').length - 1)
    for (const { name, runbook } of alerts) {
      expect(existsSync(runbook), `${name}: ${runbook}`).toBe(true)
      const text = readFileSync(runbook, 'utf8')
      expect([...text.matchAll(/^#+ (.+)$/gm)].map(([, title]) => title)).toEqual([name, 'Symptom', 'Cause', 'Command'])
    }
    const pages = readdirSync('docs/runbooks').filter((page) => page !== 'README.md')
    expect(pages.map((page) => `docs/runbooks/${page}`).sort()).toEqual(alerts.map(({ runbook }) => runbook).sort())
  })
})

describe('infra/grafana', () => {
  it.each(readdirSync('infra/grafana/dashboards'))('%s asks for metrics that are there', (file) => {
    const board = JSON.parse(readFileSync(`infra/grafana/dashboards/${file}`, 'utf8')) as { panels: { targets: { expr: string }[] }[] }
    const expressions = board.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))
    expect(expressions.length).toBeGreaterThan(10)
    expect(unknown(expressions.join('\n'))).toEqual([])
  })
})
