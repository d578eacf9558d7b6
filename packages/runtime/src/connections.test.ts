import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { connectionVariables } from './connections.ts'
import { commonEnvironment, parseEnvironment } from './environment.ts'

const folder = mkdtempSync(join(tmpdir(), 'km0-connections-'))
const file = (name: string, content: string) => {
  writeFileSync(join(folder, name), content)
  return join(folder, name)
}
const ca = file('ca one.pem', 'ca')
const [cert, key] = [file('cert.pem', 'cert'), file('key.pem', 'key')]
const secret = file('secret', 'p,@:%\n')
const wrongOf = (variables: Record<string, string>) => {
  const wrong: string[] = []
  connectionVariables(variables, wrong)
  return wrong
}

describe('settings of connections', () => {
  it('leave addresses alone where nothing is set', () => {
    const given = { MQTT_URL: 'mqtt://a:1', KAFKA_BROKERS: 'a:1,b:2', DATABASE_URL: 'postgres://u@h/d', REDIS_URL: 'redis://r' }
    expect(connectionVariables(given, [])).toEqual(given)
  })

  it('put name, password from a file and certificates into the address', () => {
    const settings = parseEnvironment(commonEnvironment, {
      MQTT_URL: 'mqtts://broker:8883',
      MQTT_USERNAME: 'bridge',
      MQTT_PASSWORD_FILE: secret,
      MQTT_CA_FILE: ca,
      MQTT_CERT_FILE: cert,
      MQTT_KEY_FILE: key,
    })
    const url = new URL(settings.MQTT_URL)
    expect([url.username, decodeURIComponent(url.password), url.host]).toEqual(['bridge', 'p,@:%', 'broker:8883'])
    expect([...url.searchParams.values()]).toEqual([ca, cert, key])
  })

  it('of PostgreSQL check the name of the server, unless the address says otherwise; a space is %20', () => {
    const url = (address: string) => connectionVariables({ DATABASE_URL: address, DATABASE_CA_FILE: ca }, []).DATABASE_URL
    expect(url('postgres://u@h/d')).toMatch(/sslrootcert=[^+]*ca%20one\.pem&sslmode=verify-full$/)
    expect(url('postgres://u@h/d?sslmode=verify-ca')).toContain('sslmode=verify-ca&')
  })

  it('of Kafka say it for each broker', () => {
    const { KAFKA_BROKERS } = parseEnvironment(commonEnvironment, {
      KAFKA_BROKERS: 'a:9093, b:9093',
      KAFKA_TLS: 'true',
      KAFKA_USERNAME: 'km0',
      KAFKA_PASSWORD_FILE: secret,
    })
    expect(KAFKA_BROKERS).toEqual(['a', 'b'].map((host) => `kafkas://km0:p%2C%40%3A%25@${host}:9093?sasl=scram-sha-512`))
  })

  it.each([
    [{ MQTT_CA_FILE: ca }, /MQTT_URL: begins with mqtt:/],
    [{ REDIS_URL: 'redis://r', REDIS_CA_FILE: ca }, /REDIS_URL: begins with redis:/],
    [{ DATABASE_CA_FILE: join(folder, 'none') }, /DATABASE_CA_FILE: .*no such file/],
    [{ KAFKA_CERT_FILE: cert }, /KAFKA_CERT_FILE, KAFKA_KEY_FILE: one is set without the other/],
    [{ KAFKA_SASL: 'gssapi' }, /KAFKA_SASL/],
    [{ KAFKA_SASL: 'plain' }, /needs KAFKA_USERNAME/],
    [{ KAFKA_USERNAME: 'a' }, /KAFKA_USERNAME, KAFKA_PASSWORD/],
    [{ KAFKA_TLS: 'false', KAFKA_CA_FILE: ca }, /KAFKA_TLS: is false/],
    [{ MQTT_PASSWORD: 'a' }, /MQTT_PASSWORD: needs MQTT_USERNAME/],
    [{ MQTT_PASSWORD: 'a', MQTT_PASSWORD_FILE: secret }, /MQTT_PASSWORD is set too/],
    [{ DATABASE_URL_FILE: join(folder, 'none') }, /DATABASE_URL_FILE: .*no such file/],
  ])('%o is told', (variables, said) => {
    expect(wrongOf(variables as Record<string, string>).join('\n')).toMatch(said)
    expect(() => parseEnvironment(commonEnvironment, variables as Record<string, string>)).toThrow(said)
  })
})

describe('settings from files', () => {
  it('are any setting of the schema, and no setting that ends in _FILE by its own name', () => {
    const schema = z.object({ KM0_AUTH_SECRET: z.string(), KM0_LINK_FILE: z.string(), KM0_LINK: z.string().optional() })
    expect(parseEnvironment(schema, { KM0_AUTH_SECRET_FILE: secret, KM0_LINK_FILE: '/nowhere' })).toEqual({
      KM0_AUTH_SECRET: 'p,@:%',
      KM0_LINK_FILE: '/nowhere',
    })
    expect(parseEnvironment(commonEnvironment, { DATABASE_URL_FILE: file('url', 'postgres://u:p@h/d\n') }).DATABASE_URL).toBe(
      'postgres://u:p@h/d',
    )
  })
})
