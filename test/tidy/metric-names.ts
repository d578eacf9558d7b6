import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const IS_SOURCE = /^[\w-]+\/src\/.*\.ts$/
const IS_TEST = /\.(test|testbench)\.ts$/
const INSTRUMENTS = /new (Counter|Gauge|Histogram)\(|\.register\(program\.metrics/

const found = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, name = '']) => name)

/** Names of all metrics of ours that the programs can tell, from their source: in full, or made of a prefix and what it is given. */
export function metricNames(): Set<string> {
  const files = ['apps', 'packages'].flatMap((folder) =>
    readdirSync(folder)
      .flatMap((room) =>
        readdirSync(join(folder, room, 'src'), { recursive: true, encoding: 'utf8' }).map((file) => join(room, 'src', file)),
      )
      .filter((file) => IS_SOURCE.test(file) && !IS_TEST.test(file))
      .map((file) => join(folder, file)),
  )
  const texts = files.map((file) => readFileSync(file, 'utf8'))
  const prefixes = texts.flatMap((text) => found(text, /metricPrefix: '(km0_\w+)'/g))
  const names = new Set<string>()
  for (const text of texts.filter((source) => INSTRUMENTS.test(source))) {
    for (const name of found(text, /'(km0_\w+)'/g)) if (!prefixes.includes(name)) names.add(name)
    for (const suffix of found(text, /\$\{(?:prefix|metricPrefix)\}(_\w+)/g)) for (const prefix of prefixes) names.add(`${prefix}${suffix}`)
    for (const [name, maker] of [
      ['counter', /`(km0_\w+_)\$\{name\}_total`/g],
      ['gauge', /`(km0_\w+_)\$\{name\}`/g],
    ] as const)
      for (const prefix of found(text, maker))
        for (const given of found(text, new RegExp(`\\b${name}\\(\\s*'(\\w+)'`, 'g')))
          names.add(name === 'counter' ? `${prefix}${given}_total` : `${prefix}${given}`)
  }
  return names
}
