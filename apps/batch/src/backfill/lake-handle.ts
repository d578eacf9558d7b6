import { type Lake, LakeMissingError, LakeNotInstalledError, type LakeSettings, LakeUnavailableError, openLake } from '@km0/lake'
import { RefusedError } from './context.ts'

/** The lake, opened at the first use and again after its catalog was away. */
export class LakeHandle {
  readonly #settings: LakeSettings
  #lake: Lake | null = null

  constructor(settings: LakeSettings) {
    this.#settings = settings
  }

  /** Gives the lake to `work`. Rejects with RefusedError where there is none, LakeUnavailableError while it cannot be reached. */
  async use<T>(work: (lake: Lake) => Promise<T>): Promise<T> {
    try {
      this.#lake ??= await openLake(this.#settings, { readOnly: true })
      return await work(this.#lake)
    } catch (error) {
      if (error instanceof LakeMissingError || error instanceof LakeNotInstalledError) throw new RefusedError(error.message)
      if (error instanceof LakeUnavailableError) this.close()
      throw error
    }
  }

  close(): void {
    this.#lake?.close()
    this.#lake = null
  }
}
