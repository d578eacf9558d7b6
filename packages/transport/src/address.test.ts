import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { brokerHosts, kafkaAddress, mqttAddress, redisAddress } from './address.ts'

const ca = join(mkdtempSync(join(tmpdir(), 'km0-address-')), 'ca.pem')
writeFileSync(ca, 'a certificate')
const query = `?sslrootcert=${encodeURIComponent(ca)}`

describe('addresses', () => {
  it('of Kafka: plain ones are left alone', () => {
    expect(kafkaAddress(['a:9092', 'b:9092'])).toEqual({ brokers: ['a:9092', 'b:9092'] })
  })

  it('of Kafka: name, password, mechanism and certificate', () => {
    expect(kafkaAddress([`kafkas://km0:p%2C%40%25@a:9093${query}&sasl=plain`, 'kafkas://b:9093'])).toEqual({
      brokers: ['a:9093', 'b:9093'],
      ssl: { ca: Buffer.from('a certificate') },
      sasl: { mechanism: 'plain', username: 'km0', password: 'p,@%' },
    })
    expect(kafkaAddress(['kafka://km0:x@a:1'])).toEqual({
      brokers: ['a:1'],
      sasl: { mechanism: 'scram-sha-512', username: 'km0', password: 'x' },
    })
    expect(brokerHosts(['kafkas://km0:secret@a:9093?sasl=plain', 'b:1'])).toEqual(['a:9093', 'b:1'])
    expect(() => kafkaAddress(['kafka://km0:x@a:1?sasl=gssapi'])).toThrow(/gssapi/)
  })

  it('of MQTT and Redis: what the client gets beside the address holds the secrets, the address does not', () => {
    expect(mqttAddress(`mqtts://van:s%3A1@broker:8883${query}`)).toEqual([
      'mqtts://broker:8883',
      { username: 'van', password: 's:1', ca: Buffer.from('a certificate') },
    ])
    expect(redisAddress(`rediss://:only@cache:6380/2${query}`)).toEqual([
      'rediss://cache:6380/2',
      { password: 'only', tls: { ca: Buffer.from('a certificate') } },
    ])
    expect(redisAddress('redis://cache:6380')).toEqual(['redis://cache:6380', {}])
  })
})
