import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { sourceFiles } from './imports.ts'

const FOLDER = 'infra/kubernetes'
const documents = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.yaml'))
  .flatMap((name) =>
    readFileSync(`${FOLDER}/${name}`, 'utf8')
      .replace(/^\s*#.*\n/gm, '')
      .split(/^---\n/m),
  )
const ofKind = (kind: string) => documents.filter((text) => new RegExp(`^kind: ${kind}$`, 'm').test(text))
const nameOf = (text: string) => /^metadata:(?: \{|\n) *name: ([\w-]+)/m.exec(text)?.[1]
const all = documents.join('\n')
const deployments = ofKind('Deployment')

// What the fields are called is held by `node infra/kubernetes-check.mjs` (pnpm check); this is what they say.
describe('kubernetes', () => {
  it('runs the programs that compose runs', () => {
    const compose = readFileSync('infra/compose.yaml', 'utf8')
    const programs = [
      ...compose.matchAll(/^ {2}([\w-]+):\n {4}<<: \*(?:program|stream)\n(?:(?!^ {2}\S).*\n)*? {4}command:\s+\[.*apps\//gm),
    ].map(([, name]) => name)
    expect(programs.length).toBeGreaterThan(6)
    expect(deployments.map(nameOf).toSorted()).toEqual(programs.toSorted())
    const run = (text: string) => /apps\/\w+\/dist\/main\.js(?:, --role, [\w-]+)?/.exec(text)?.[0]
    for (const text of deployments)
      expect(compose).toMatch(new RegExp(`^ {2}${nameOf(text)}:\\n(?:(?!^ {2}\\S).*\\n)*? {4}command:\\s+\\[.*${run(text)}`, 'm'))
  })

  it('gives none of them privileges, and has each asked how it is', () => {
    for (const text of deployments)
      for (const line of [
        'runAsNonRoot: true',
        'readOnlyRootFilesystem: true',
        'allowPrivilegeEscalation: false',
        'capabilities: { drop: [ALL] }',
        'automountServiceAccountToken: false',
        // Kubernetes would set KAFKA_PORT and the like, which are nobody's settings.
        'enableServiceLinks: false',
        'startupProbe: { httpGet: { path: /health, port: http }',
        'readinessProbe: { httpGet: { path: /health, port: http }',
        'livenessProbe: { httpGet: { path: /metrics, port: http }',
        'limits: { memory:',
      ])
        expect(text).toContain(line)
  })

  it('has secrets as files, and none in the repository', () => {
    expect(ofKind('Secret')).toEqual([])
    expect(all).not.toMatch(/secretKeyRef|(DATABASE|MQTT|REDIS)_URL:/)
    for (const text of deployments) expect(text).toContain('{ name: secrets, mountPath: /secrets, readOnly: true }')
  })

  it('gives programs only settings that they read', () => {
    const sources = ['apps', 'packages'].flatMap(sourceFiles).map((file) => readFileSync(file, 'utf8'))
    const settings = [...all.matchAll(/^ {2}([A-Z]\w+): |\{ name: ([A-Z]\w+), value:/gm)].map(([, first, second]) => first ?? second ?? '')
    expect(settings.length).toBeGreaterThan(12)
    expect(settings.filter((name) => !sources.some((text) => text.includes(name.replace(/_FILE$/, ''))))).toEqual([])
  })

  it('asks for the health of services that there are, and scales by a metric that there is', () => {
    const services = ofKind('Service').map(nameOf)
    const asked = [.../KM0_PROGRAMS,\s+value:\s+"([^"]*)"/.exec(all)![1]!.matchAll(/http:\/\/([\w-]+):9100/g)].map(([, name]) => name)
    expect(services.toSorted()).toEqual([...asked, 'dashboard'].toSorted())
    const metric = /metric: \{ name: (\w+)_max \}/.exec(all)?.[1]
    expect(readFileSync('docs/metrics.md', 'utf8')).toContain(`\`${metric}\` | gauge | partition | stream positions`)
    // The adapter's rule is in the document: without it the autoscaler sees nothing.
    expect(readFileSync('docs/kubernetes.md', 'utf8')).toContain(`${metric}_max`)
    const [scaled] = ofKind('HorizontalPodAutoscaler')
    const name = /scaleTargetRef: .*name: ([\w-]+)/.exec(scaled ?? '')?.[1]
    expect(deployments.find((text) => nameOf(text) === name)).not.toMatch(/^ {2}replicas:/m)
  })
})
