import { CheckpointSettingsError, checkpointEnvironment, type ObjectStore, openObjects } from '@km0/checkpoints'
import { parseEnvironment } from '@km0/runtime'
import { findCheckpoints } from './addresses.ts'
import { CommandError } from './command.ts'

/** What each command that opens the checkpoints says of how it finds them. */
export const CHECKPOINTS_HELP =
  '--checkpoints PLACE is a folder or s3://bucket/prefix; default: KM0_CHECKPOINTS, or those of the platform that `npm start` runs here. KM0_CHECKPOINT_S3_* as the job has them.'

/** Opens the place of checkpoints: the given one, else that of the environment, else the running platform's. Throws CommandError. */
export function openCheckpointPlace(given: string | undefined): ObjectStore {
  const environment = parseEnvironment(checkpointEnvironment, {
    ...process.env,
    ...(given === undefined ? {} : { KM0_CHECKPOINTS: given }),
  })
  const named = environment.KM0_CHECKPOINTS ?? environment.KM0_CHECKPOINT_DIR
  try {
    return openObjects(environment, named ?? findCheckpoints())
  } catch (error) {
    if (error instanceof CheckpointSettingsError) throw new CommandError(error.message)
    throw error
  }
}
