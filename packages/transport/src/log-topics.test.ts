import { TOPICS } from '@km0/contracts'
import type { Admin } from 'kafkajs'
import { expect, it } from 'vitest'
import { ensureTopics } from './log-topics.ts'

const refusal = (type: string) => Object.assign(new Error(type), { name: 'KafkaJSProtocolError', type })

/** A broker that hears of a new topic only after it was asked some times. */
function slowBroker(answers: readonly (string | number)[], offsetAnswers: readonly string[] = []): Admin {
  const left = [...answers]
  const leftOffsets = [...offsetAnswers]
  const admin: Partial<Admin> = {
    listTopics: () => Promise.resolve([]),
    createTopics: () => Promise.resolve(true),
    fetchTopicMetadata: () => {
      const answer = left.shift()
      if (typeof answer === 'string') return Promise.reject(refusal(answer))
      const partitions = Array.from({ length: answer ?? 0 }, (_, partitionId) => {
        return { partitionId, partitionErrorCode: 0, leader: 1, replicas: [1], isr: [1] }
      })
      return Promise.resolve({ topics: [{ name: TOPICS.marks.name, partitions }] })
    },
    fetchTopicOffsets: () => {
      const answer = leftOffsets.shift()
      return answer === undefined ? Promise.resolve([]) : Promise.reject(refusal(answer))
    },
  }
  return admin as Admin
}

it('waits for a topic that the broker does not know yet, that has no leader, or that it does not answer for', async () => {
  const admin = slowBroker(['UNKNOWN_TOPIC_OR_PARTITION', 'LEADER_NOT_AVAILABLE', 1], ['NOT_LEADER_FOR_PARTITION'])
  expect(await ensureTopics(admin, [TOPICS.marks])).toEqual(new Map([[TOPICS.marks.name, 1]]))
})

it('passes other errors on', async () => {
  await expect(ensureTopics(slowBroker(['TOPIC_AUTHORIZATION_FAILED']), [TOPICS.marks])).rejects.toThrow('TOPIC_AUTHORIZATION_FAILED')
  await expect(ensureTopics(slowBroker([1], ['GROUP_AUTHORIZATION_FAILED']), [TOPICS.marks])).rejects.toThrow('GROUP_AUTHORIZATION_FAILED')
})
