import { readFileSync } from 'node:fs'
import { connectionEnvironment } from '@km0/runtime'
import { expect, it } from 'vitest'

const HOSTS = [
  { folder: 'infra/engines/kafka-streams', path: 'km0/streams' },
  { folder: 'infra/engines/flink', path: 'cat/km0/flink' },
] as const

/** The two Maven projects share no module, so what reads Kafka's settings stands in both. */
it.each(['main/java/PACKAGE/KafkaConnection.java', 'test/java/PACKAGE/KafkaConnectionTest.java'])(
  '%s is the same in both hosts',
  (file) => {
    const [streams, flink] = HOSTS.map(({ folder, path }) =>
      readFileSync(`${folder}/src/${file.replace('PACKAGE', path)}`, 'utf8').replace(/^package .*;\n/, ''),
    )
    expect(flink).toBe(streams)
  },
)

it('the hosts read every setting of Kafka that our own programs read', () => {
  const java = readFileSync('infra/engines/kafka-streams/src/main/java/km0/streams/KafkaConnection.java', 'utf8')
  const names = Object.keys(connectionEnvironment.shape).filter((name) => name.startsWith('KAFKA_'))
  expect(names.length).toBeGreaterThan(5)
  expect([...names, 'KAFKA_BROKERS'].filter((name) => !java.includes(`"${name}"`))).toEqual([])
})
