import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { openDirectoryObjects } from './directory-objects.ts'
import type { ObjectStore } from './objects.ts'
import { openS3Objects, type S3Settings } from './s3-objects.ts'

const S3_URL = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/

/** Settings of whatever opens the checkpoints. Each program that does extends its own with them. */
export const checkpointEnvironment = z.object({
  /** A folder, or `s3://bucket/prefix`. */
  KM0_CHECKPOINTS: z
    .string()
    .min(1)
    .refine((text) => !text.includes('://') || S3_URL.test(text), 'write a folder, or s3://bucket/prefix')
    .optional(),
  /** Older name of KM0_CHECKPOINTS, for a folder. */
  KM0_CHECKPOINT_DIR: z.string().min(1).optional(),
  /** host:port of an S3-compatible store; absent: the provider's own. */
  KM0_CHECKPOINT_S3_ENDPOINT: z
    .string()
    .regex(/^[^\s:/]+(:\d+)?$|^\[[^\]]+\](:\d+)?$/, 'write host:port')
    .optional(),
  KM0_CHECKPOINT_S3_REGION: z.string().min(1).default('us-east-1'),
  /** Absent: what the provider's own tools would take. */
  KM0_CHECKPOINT_S3_KEY_ID: z.string().min(1).optional(),
  KM0_CHECKPOINT_S3_SECRET: z.string().min(1).optional(),
  /** File whose text is the secret, so that it stands in no environment. */
  KM0_CHECKPOINT_S3_SECRET_FILE: z.string().min(1).optional(),
  KM0_CHECKPOINT_S3_TLS: z.enum(['true', 'false']).default('true'),
})

export type CheckpointEnvironment = z.infer<typeof checkpointEnvironment>

/** The settings of the place of checkpoints contradict each other. The message says what to do. */
export class CheckpointSettingsError extends Error {
  override readonly name = 'CheckpointSettingsError'
}

/** Where checkpoints lie, from the environment: `fallbackDirectory` when it does not say. Throws CheckpointSettingsError. */
export function openObjects(environment: CheckpointEnvironment, fallbackDirectory: string): ObjectStore {
  const place = environment.KM0_CHECKPOINTS ?? environment.KM0_CHECKPOINT_DIR ?? fallbackDirectory
  const [, bucket, prefix = ''] = S3_URL.exec(place) ?? []
  return bucket === undefined
    ? openDirectoryObjects(place)
    : openS3Objects(s3Settings(environment, bucket, prefix.replace(/^\/+|\/+$/g, '')))
}

function s3Settings(environment: CheckpointEnvironment, bucket: string, prefix: string): S3Settings {
  const { KM0_CHECKPOINT_S3_ENDPOINT: endpoint, KM0_CHECKPOINT_S3_KEY_ID: accessKeyId, KM0_CHECKPOINT_S3_REGION: region } = environment
  const secretAccessKey = secretOf(environment)
  if ((accessKeyId === undefined) !== (secretAccessKey === undefined)) {
    const missing = accessKeyId === undefined ? 'KM0_CHECKPOINT_S3_KEY_ID' : 'KM0_CHECKPOINT_S3_SECRET or KM0_CHECKPOINT_S3_SECRET_FILE'
    throw new CheckpointSettingsError(`${missing} is missing: set key and secret, or neither`)
  }
  const scheme = environment.KM0_CHECKPOINT_S3_TLS === 'true' ? 'https' : 'http'
  return {
    bucket,
    prefix,
    region,
    ...(endpoint === undefined ? {} : { endpoint: `${scheme}://${endpoint}` }),
    ...(accessKeyId === undefined || secretAccessKey === undefined ? {} : { credentials: { accessKeyId, secretAccessKey } }),
  }
}

function secretOf({ KM0_CHECKPOINT_S3_SECRET: secret, KM0_CHECKPOINT_S3_SECRET_FILE: file }: CheckpointEnvironment): string | undefined {
  if (file === undefined) return secret
  if (secret !== undefined)
    throw new CheckpointSettingsError('KM0_CHECKPOINT_S3_SECRET and KM0_CHECKPOINT_S3_SECRET_FILE are both set: take one')
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new CheckpointSettingsError(`KM0_CHECKPOINT_S3_SECRET_FILE cannot be read: ${reason}`, { cause })
  }
}
