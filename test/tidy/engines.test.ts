import { readFileSync } from 'node:fs'
import { connectionEnvironment } from '@km0/runtime'
import { expect, it } from 'vitest'

it('the hosts read every setting of Kafka that our own programs read', () => {
  const java = readFileSync('infra/engines/kafka-settings/src/main/java/km0/kafka/KafkaConnection.java', 'utf8')
  const names = Object.keys(connectionEnvironment.shape).filter((name) => name.startsWith('KAFKA_'))
  expect(names.length).toBeGreaterThan(5)
  expect([...names, 'KAFKA_BROKERS'].filter((name) => !java.includes(`"${name}"`))).toEqual([])
})
