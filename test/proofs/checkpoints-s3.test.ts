import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openObjects } from '@km0/checkpoints'
import { checkpointEnvironment } from '@km0/checkpoints/environment'
import { claimEpoch, EpochContestedError, raiseEpoch, readEpoch } from '@km0/checkpoints/epoch'
import { startServices, type TestServices } from '@km0/testkit/services'
import { afterAll, describe, expect, it } from 'vitest'
import { objectStoreLaws } from '../laws/object-store-laws.ts'

// A real S3-compatible server, built by `go install` at the first run. Where it cannot be had this file says so and is skipped.
let services: TestServices<{ s3: true }> | null = null
try {
  services = await startServices({ s3: true })
} catch (error) {
  console.warn(`checkpoints in S3 are not tested here: ${error instanceof Error ? error.message : String(error)}`)
}
afterAll(() => services?.stop())

let number = 0
const open = (change: Record<string, string> = {}) => {
  number += 1
  const variables = { ...services?.environment, KM0_CHECKPOINTS: `s3://km0-test/test-${number}`, ...change }
  return openObjects(checkpointEnvironment.parse(variables), 'nowhere')
}

describe.skipIf(services === null)('an S3-compatible store', () => {
  objectStoreLaws('a bucket', async () => open())

  it('keeps prefixes apart, and takes none', async () => {
    const [one, other, all] = [open(), open(), open({ KM0_CHECKPOINTS: 's3://km0-test' })]
    await one.write('a', Buffer.from('one'))
    expect(await other.read('a')).toBeNull()
    expect((await all.list('test-')).map(({ key }) => `s3://km0-test/${key}`)).toContain(`${one.place}/a`)
  })

  it('gives one epoch to all who start at once, and one winner to those who raise it', async () => {
    const objects = open()
    const claimed = await Promise.all(Array.from({ length: 8 }, () => claimEpoch({ objects, clusterId: 'one' })))
    expect(new Set(claimed.map((epoch) => JSON.stringify(epoch)))).toEqual(new Set([JSON.stringify(await readEpoch(objects))]))
    const raised = await Promise.allSettled(Array.from({ length: 8 }, () => raiseEpoch(objects, 'one')))
    const won = raised.filter(({ status }) => status === 'fulfilled')
    for (const tried of raised) if (tried.status === 'rejected') expect(tried.reason).toBeInstanceOf(EpochContestedError)
    expect(won.length).toBeGreaterThan(0)
    expect((await readEpoch(objects))?.epoch).toBe(1 + won.length)
  })

  it('does not work with a store that takes the condition of a write and ignores it', async () => {
    const careless = createServer((request, response) => request.resume().on('end', () => response.end()))
    await new Promise<void>((resolve) => careless.listen(0, '127.0.0.1', resolve))
    const { port } = careless.address() as AddressInfo
    const objects = open({ KM0_CHECKPOINT_S3_ENDPOINT: `127.0.0.1:${port}` })
    await expect(objects.create('claim', Buffer.from('x'))).rejects.toThrow(/ignores the condition of a write/)
    careless.closeAllConnections()
    careless.close()
  })

  it('says what is wrong: a bucket that is not there, a wrong key, a server that is away', async () => {
    await expect(open({ KM0_CHECKPOINTS: 's3://no-such-bucket/x' }).write('a', Buffer.from('x'))).rejects.toThrow(
      /checkpoints in s3:\/\/no-such-bucket\/x: NoSuchBucket/,
    )
    await expect(open({ KM0_CHECKPOINT_S3_SECRET: 'wrong' }).read('a')).rejects.toThrow(/SignatureDoesNotMatch/)
    await services?.s3.stop()
    const away = open()
    await expect(away.read('a')).rejects.toMatchObject({ name: 'StorageError', message: expect.stringMatching(/ECONNREFUSED/) })
    await services?.restart('s3')
    expect(await away.read('a')).toBeNull()
  })
})
