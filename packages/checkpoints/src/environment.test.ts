import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { checkpointEnvironment, openObjects } from './environment.ts'

const folder = mkdtempSync(join(tmpdir(), 'km0-secret-'))
const secretFile = join(folder, 'secret')
writeFileSync(secretFile, 'hush\n')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const open = (variables: Record<string, string>) => openObjects(checkpointEnvironment.parse(variables), '/fallback')

describe('the place of checkpoints', () => {
  it('is a folder, which nobody knows to be shared', () => {
    expect(open({})).toMatchObject({ place: '/fallback', shared: false })
    expect(open({ KM0_CHECKPOINT_DIR: '/older' }).place).toBe('/older')
    expect(open({ KM0_CHECKPOINTS: '/newer', KM0_CHECKPOINT_DIR: '/older' }).place).toBe('/newer')
  })

  it('is a bucket, with or without a prefix', () => {
    expect(open({ KM0_CHECKPOINTS: 's3://bucket' })).toMatchObject({ place: 's3://bucket', shared: true })
    expect(open({ KM0_CHECKPOINTS: 's3://bucket/a/b/' }).place).toBe('s3://bucket/a/b')
  })

  it.each(['s3://', 's3://UPPER', 'http://somewhere', 'S3://bucket'])('is not %s', (place) => {
    expect(() => open({ KM0_CHECKPOINTS: place })).toThrow(/a folder, or s3:\/\/bucket\/prefix/)
  })

  it('takes the secret from a file, and wants key and secret together', () => {
    const bucket = { KM0_CHECKPOINTS: 's3://bucket' }
    expect(() => open({ ...bucket, KM0_CHECKPOINT_S3_KEY_ID: 'key', KM0_CHECKPOINT_S3_SECRET_FILE: secretFile })).not.toThrow()
    expect(() => open({ ...bucket, KM0_CHECKPOINT_S3_KEY_ID: 'key' })).toThrow(/SECRET_FILE is missing/)
    expect(() => open({ ...bucket, KM0_CHECKPOINT_S3_SECRET: 'hush' })).toThrow(/KEY_ID is missing/)
    const both = { KM0_CHECKPOINT_S3_SECRET: 'hush', KM0_CHECKPOINT_S3_SECRET_FILE: secretFile }
    expect(() => open({ ...bucket, KM0_CHECKPOINT_S3_KEY_ID: 'key', ...both })).toThrow(/both set/)
    const absent = { KM0_CHECKPOINT_S3_KEY_ID: 'key', KM0_CHECKPOINT_S3_SECRET_FILE: join(folder, 'absent') }
    expect(() => open({ ...bucket, ...absent })).toThrow(/SECRET_FILE cannot be read/)
  })
})
