import { existsSync } from 'node:fs'
import { checkpointEnvironment, type ObjectStore, openObjects } from '@km0/checkpoints'
import { lakeEnvironment } from '@km0/lake'
import { parseEnvironment } from '@km0/runtime'
import { findCheckpoints } from './addresses.ts'
import { openCheckpointPlace } from './checkpoints-open.ts'

/** The place of the lake's files as a place of objects: a folder, or `s3://bucket/prefix` with the keys of KM0_LAKE_S3_*. */
export function openLakeFiles(place: string): ObjectStore {
  const lake = parseEnvironment(lakeEnvironment, process.env)
  const settings = {
    KM0_CHECKPOINT_S3_ENDPOINT: lake.KM0_LAKE_S3_ENDPOINT,
    KM0_CHECKPOINT_S3_REGION: lake.KM0_LAKE_S3_REGION,
    KM0_CHECKPOINT_S3_KEY_ID: lake.KM0_LAKE_S3_KEY_ID,
    KM0_CHECKPOINT_S3_SECRET: lake.KM0_LAKE_S3_SECRET,
    KM0_CHECKPOINT_S3_TLS: lake.KM0_LAKE_S3_TLS,
  }
  const path = place.replace(/\/+$/, '')
  return openObjects(parseEnvironment(checkpointEnvironment, { ...settings, KM0_CHECKPOINTS: path }), path)
}

/** The place of checkpoints that is given, that of the environment, that of the running platform; null when none of them is there. */
export function findCheckpointPlace(given: string | undefined): ObjectStore | null {
  if (given === undefined && !process.env.KM0_CHECKPOINTS && !process.env.KM0_CHECKPOINT_DIR) {
    try {
      if (!existsSync(findCheckpoints())) return null
    } catch {
      return null
    }
  }
  return openCheckpointPlace(given)
}
