import type { CheckpointStore } from '@km0/checkpoints'

/** The settings are not those of the stored state. The message says what to do. */
export class OtherPipelineError extends Error {
  override readonly name = 'OtherPipelineError'
}

export interface VersionCheck {
  readonly store: CheckpointStore
  readonly pipeline: string
  readonly epoch: number
  /** `stock.version`, as it stands in the settings. */
  readonly setting: 'positions.version' | 'stock.version'
  readonly version: number
  /** Restores a snapshot into a task that is thrown away. Throws when it does not fit. */
  readonly tryRestore: (snapshot: string) => void
}

/** Refuses to start with settings under which the stored states cannot go on. Throws OtherPipelineError, which names the way on. */
export async function requireSameVersion(check: VersionCheck): Promise<void> {
  const { store, pipeline, epoch, setting, version, tryRestore } = check
  const partitions = new Set((await store.list(pipeline)).filter((entry) => entry.epoch === epoch).map((entry) => entry.partition))
  for (const partition of partitions) {
    const { checkpoint } = await store.newestAtOrBelow(pipeline, epoch, partition, Number.MAX_SAFE_INTEGER)
    if (checkpoint === null) continue
    try {
      tryRestore(checkpoint.snapshot)
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause)
      throw new OtherPipelineError(
        `the stored state of ${pipeline} (partition ${partition}, offset ${checkpoint.offset}) cannot go on: ${reason}. ` +
          `To go on with the new settings, make it a new version: set ${setting} to ${version + 1} in the settings file ` +
          `(or ${setting.replace('.', '_').toUpperCase().replace(/^/, 'KM0_')}=${version + 1}). ` +
          'It computes anew from what the log still holds, and its results replace those of before.',
        { cause },
      )
    }
  }
}
