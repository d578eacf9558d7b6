import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { sourceFiles } from './imports.ts'

const FILES = ['compose.yaml', 'infra/compose.yaml', 'infra/compose.debug.yaml']
const texts = FILES.map((file) => readFileSync(file, 'utf8').replace(/^\s*#.*$/gm, ''))
const all = texts.join('\n')
const found = (pattern: RegExp) => [...new Set([...all.matchAll(pattern)].map(([, name = '']) => name))]

describe('compose', () => {
  it('publishes ports on this machine alone, each a variable', () => {
    const published = [...all.matchAll(/ports: \[([^\]]*)\]/g)].flatMap(([, list = '']) => list.split(',').map((port) => port.trim()))
    expect(published).toHaveLength(all.split('ports:').length - 1)
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
})
