import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { sourceFiles } from './imports.ts'

const FILES = ['compose.yaml', 'infra/compose.yaml', 'infra/compose.debug.yaml']
const texts = FILES.map((file) => readFileSync(file, 'utf8').replace(/^\s*#.*$/gm, ''))
const all = texts.join('\n')
const found = (pattern: RegExp) => [...new Set([...all.matchAll(pattern)].map(([, name = '']) => name))]

/** Text of each service of infra/compose.yaml, by name. */
const services = new Map(
  (/^services:\n([\s\S]*?)^\S/m.exec(texts[1] ?? '')?.[1] ?? '')
    .split(/^ {2}(?=\S)/m)
    .filter((text) => text.trim() !== '')
    .map((text) => [text.slice(0, text.indexOf(':')), text] as const),
)
const ours = (text: string) => /<<: \*(program|stream)$/m.test(text)
const names = (holds: (text: string) => boolean) => [...services].filter(([, text]) => holds(text)).map(([name]) => name)

describe('compose', () => {
  it('publishes ports on this machine alone, each a variable', () => {
    const published = [...all.matchAll(/(?<!\w)ports: \[([^\]]*)\]/g)].flatMap(([, list = '']) =>
      list.split(',').map((port) => port.trim()),
    )
    expect(published).toHaveLength(all.match(/(?<!\w)ports:/g)?.length ?? 0)
    for (const port of published) expect(port).toMatch(/^"(127\.0\.0\.1|\$\{KM0_MQTT_BIND:-127\.0\.0\.1\}):\$\{KM0_\w+_PORT:-\d+\}:\d+"$/)
  })

  it('names each image with a version, and asks for none anew', () => {
    const images = found(/image: (\S+)/g)
    expect(images.length).toBeGreaterThan(5)
    for (const image of images) expect(image).toMatch(/:(\$\{KM0_VERSION:-local\}|(?!latest)[\w.-]*\d[\w.-]*)$/)
    expect(all).not.toContain('pull_policy')
    expect(readFileSync('infra/Dockerfile', 'utf8')).not.toMatch(/^# *syntax=/m)
  })

  it('has no variable that .env.example does not explain, and explains none that there is not', () => {
    const explained = [...readFileSync('.env.example', 'utf8').matchAll(/^([A-Z]\w+)=/gm)].map(([, name = '']) => name)
    expect(explained.toSorted()).toEqual(found(/\$\{(\w+)/g).toSorted())
  })

  it('gives programs only settings that they read', () => {
    const sources = ['apps', 'packages']
      .flatMap(sourceFiles)
      .map((file) => readFileSync(file, 'utf8'))
      .join('\n')
    const given = found(/^ {2,6}(KM0_\w+):/gm).concat(found(/[{,] (KM0_\w+):/g))
    expect(given.length).toBeGreaterThan(10)
    expect(given.filter((name) => !sources.includes(name.replace(/_FILE$/, '')))).toEqual([])
  })

  it('runs our programs without privileges, on a root file system that nothing can write to', () => {
    expect(names(ours).length).toBeGreaterThan(10)
    const [program = '', stream = ''] = [/^x-program:[\s\S]*?^\S/m, /^x-stream:[\s\S]*?^\S/m].map((block) => block.exec(all)?.[0])
    for (const line of ['read_only: true', 'cap_drop: [ALL]', 'security_opt: ["no-new-privileges:true"]'])
      expect(program).toContain(`  ${line}\n`)
    expect(stream).toContain('<<: *program')
    // What the images of others want to write to is theirs to say.
    expect(names((text) => !ours(text) && !text.includes('read_only: true'))).toEqual(['kafka', 'postgres', 'grafana', 'tempo'])
    // Each user that is set: root for the one that makes the passwords, the broker's own for what owns its accounts.
    expect(names((text) => /^ {4}user: "0/m.test(text))).toEqual(['setup'])
    const dockerfile = readFileSync('infra/Dockerfile', 'utf8')
    const stages = dockerfile.split(/^FROM /m).filter((stage) => /^base AS /.test(stage))
    expect([stages.length, /^USER (.*)$/m.exec(dockerfile)?.[1]]).toEqual([2, 'node'])
    for (const stage of stages) expect(stage).not.toMatch(/^USER/m)
  })

  it('asks each service how it is, and waits for it', () => {
    const asked = (text: string) => /^ {4}healthcheck:(?! \{ disable)/m.test(text) || (ours(text) && !/healthcheck:/.test(text))
    // Two run once or on demand; the others have no shell in their image.
    expect(names((text) => !asked(text))).toEqual(['setup', 'km0', 'otel-collector', 'tempo'])
  })
})
