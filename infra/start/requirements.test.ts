import { describe, expect, it } from 'vitest'
import { javaMajor, missingMessage } from './requirements.mjs'

const all = {
  node: 'v20.1.0',
  java: 'openjdk version "17.0.15" 2025-04-15',
  maven: true,
  jarsCached: false,
  kafkaOutside: false,
  redisOutside: false,
}

describe('what must be on the machine', () => {
  it('is complete', () => expect(missingMessage(all)).toBeNull())

  it('reads versions of Java, old and early ones too', () => {
    expect(javaMajor('openjdk version "17.0.15" 2025-04-15')).toBe(17)
    expect(javaMajor('java version "1.8.0_402"')).toBe(8)
    expect(javaMajor('openjdk version "25-ea" 2025-09-16')).toBe(25)
    expect(javaMajor('The operation couldn’t be completed. Unable to locate a Java Runtime.')).toBeNull()
    expect(javaMajor(null)).toBeNull()
  })

  it('is said in one message with the ways on', () => {
    const message = missingMessage({ ...all, node: 'v18.20.0', java: null, maven: false })
    expect(message).toMatch(/Node 20 or newer \(here is v18.20.0\)[\s\S]*Java 17[\s\S]*Maven[\s\S]*docker compose up[\s\S]*KAFKA_BROKERS/)
    expect(missingMessage({ ...all, java: 'version "11.0.2"' })).toMatch(/here is 11/)
  })

  it('does not need Maven when the download is there or not needed, nor Java without Kafka', () => {
    expect(missingMessage({ ...all, maven: false, jarsCached: true })).toBeNull()
    expect(missingMessage({ ...all, maven: false, java: null, kafkaOutside: true, redisOutside: true })).toBeNull()
    expect(missingMessage({ ...all, maven: false, java: null, kafkaOutside: true })).toMatch(/Maven/)
  })
})
