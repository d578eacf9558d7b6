import { randomUUID } from 'node:crypto'
import type { S3Client, S3ClientConfig } from '@aws-sdk/client-s3'
import { type ObjectStore, StorageError, type StoredObject } from './objects.ts'

/** How an S3-compatible store is reached. */
export interface S3Settings {
  readonly bucket: string
  /** Before every key, without `/` at either end; empty for none. */
  readonly prefix: string
  readonly region: string
  /** `http(s)://host:port`; absent: the provider's own. */
  readonly endpoint?: string
  /** Absent: what the provider's own tools would take (AWS_* variables, profile, role of the machine). */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string }
}

const CONNECT_WITHIN_MS = 3_000
const ANSWER_WITHIN_MS = 15_000
const ATTEMPTS = 4
/** Rounds of a conditional write that met another one at the same moment. */
const CONFLICTS = 10
const PROBE = 'conditional-write.probe'

/** Objects in a bucket of an S3-compatible store. Nothing is asked of it before the first call. */
export function openS3Objects(settings: S3Settings): ObjectStore {
  const { region, endpoint, credentials } = settings
  const config: S3ClientConfig = {
    region,
    maxAttempts: ATTEMPTS,
    requestHandler: { connectionTimeout: CONNECT_WITHIN_MS, requestTimeout: ANSWER_WITHIN_MS, throwOnRequestTimeout: true },
    // Stores other than the provider's own mostly know no names of buckets as host names, and not each knows the newer checksums.
    ...(endpoint === undefined
      ? {}
      : { endpoint, forcePathStyle: true, requestChecksumCalculation: 'WHEN_REQUIRED', responseChecksumValidation: 'WHEN_REQUIRED' }),
    ...(credentials === undefined ? {} : { credentials }),
  }
  return new S3Objects(config, settings)
}

type Sdk = typeof import('@aws-sdk/client-s3')

class S3Objects implements ObjectStore {
  readonly place: string
  readonly shared = true
  readonly #config: S3ClientConfig
  readonly #bucket: string
  readonly #prefix: string
  #opened: Promise<{ readonly sdk: Sdk; readonly client: S3Client }> | null = null
  #conditional: Promise<void> | null = null

  constructor(config: S3ClientConfig, { bucket, prefix }: S3Settings) {
    this.#config = config
    this.#bucket = bucket
    this.#prefix = prefix === '' ? '' : `${prefix}/`
    this.place = `s3://${bucket}${prefix === '' ? '' : `/${prefix}`}`
  }

  /** The client is large: programs whose checkpoints lie in a folder do without it. */
  #open(): Promise<{ readonly sdk: Sdk; readonly client: S3Client }> {
    // Said in docs/adr/0017; on a terminal it would stand before every answer.
    process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true'
    this.#opened ??= import('@aws-sdk/client-s3').then((sdk) => ({ sdk, client: new sdk.S3Client(this.#config) }))
    return this.#opened
  }

  read(key: string): Promise<Buffer | null> {
    return this.#try(async ({ sdk, client }) => {
      try {
        const { Body } = await client.send(new sdk.GetObjectCommand(this.#named(key)))
        return Buffer.from((await Body?.transformToByteArray()) ?? [])
      } catch (error) {
        if (isAnswer(error, 404, 'NoSuchKey')) return null
        throw error
      }
    })
  }

  write(key: string, bytes: Uint8Array): Promise<void> {
    return this.#try(async ({ sdk, client }) => {
      await client.send(new sdk.PutObjectCommand({ ...this.#named(key), Body: bytes }))
    })
  }

  create(key: string, bytes: Uint8Array): Promise<boolean> {
    return this.#try(async () => {
      this.#conditional ??= this.#requireConditionalWrites()
      try {
        await this.#conditional
      } catch (error) {
        this.#conditional = null
        throw error
      }
      if (await this.#putNew(key, bytes)) return true
      // The answer to an attempt of ours may have been lost.
      return (await this.read(key))?.equals(bytes) === true
    })
  }

  async #putNew(key: string, bytes: Uint8Array): Promise<boolean> {
    const { sdk, client } = await this.#open()
    for (let round = 1; ; round += 1) {
      try {
        await client.send(new sdk.PutObjectCommand({ ...this.#named(key), Body: bytes, IfNoneMatch: '*' }))
        return true
      } catch (error) {
        if (isAnswer(error, 412)) return false
        // Two at the same moment: the store wants one of them to come again.
        if (!isAnswer(error, 409) || round >= CONFLICTS) throw error
      }
    }
  }

  /** Some stores take the condition and ignore it: two operators would both win. */
  async #requireConditionalWrites(): Promise<void> {
    const key = `${PROBE}-${randomUUID()}`
    await this.write(key, Buffer.from('first'))
    const ignored = await this.#putNew(key, Buffer.from('second'))
    await this.remove(key)
    if (!ignored) return
    throw new StorageError(
      `${this.place}: this store ignores the condition of a write (If-None-Match), so two at once would both take themselves for the only one. ` +
        'Use a store that heeds it, or a folder.',
    )
  }

  list(prefix: string): Promise<readonly StoredObject[]> {
    return this.#try(async ({ sdk, client }) => {
      const objects: StoredObject[] = []
      let token: string | undefined
      do {
        const page = await client.send(
          new sdk.ListObjectsV2Command({ Bucket: this.#bucket, Prefix: this.#prefix + prefix, ContinuationToken: token }),
        )
        for (const { Key, Size, LastModified } of page.Contents ?? []) {
          if (Key === undefined) continue
          // One whose age is not told counts as new: nothing is deleted for it.
          objects.push({ key: Key.slice(this.#prefix.length), bytes: Size ?? 0, modifiedMs: LastModified?.getTime() ?? Date.now() })
        }
        token = page.IsTruncated === true ? page.NextContinuationToken : undefined
      } while (token !== undefined)
      return objects
    })
  }

  remove(key: string): Promise<void> {
    return this.#try(async ({ sdk, client }) => {
      await client.send(new sdk.DeleteObjectCommand(this.#named(key)))
    })
  }

  #named(key: string): { Bucket: string; Key: string } {
    return { Bucket: this.#bucket, Key: this.#prefix + key }
  }

  async #try<T>(work: (opened: { readonly sdk: Sdk; readonly client: S3Client }) => Promise<T>): Promise<T> {
    try {
      return await work(await this.#open())
    } catch (error) {
      if (error instanceof StorageError || !(error instanceof Error)) throw error
      throw new StorageError(`checkpoints in ${this.place}: ${[error.name, error.message].filter((part) => part !== '').join(': ')}`, {
        cause: error,
      })
    }
  }
}

/** Whether the store answered so. Errors of the client that are no answers have no status. */
function isAnswer(error: unknown, status: number, name?: string): boolean {
  if (!(error instanceof Error) || !('$metadata' in error)) return false
  const { httpStatusCode } = error.$metadata as { httpStatusCode?: number }
  return httpStatusCode === status && (name === undefined || error.name === name)
}
