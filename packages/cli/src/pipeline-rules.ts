import { DEFAULT_POSITIONS_SETTINGS, type PositionsSettings } from '@km0/contracts'
import { readPipelineSettings } from '@km0/contracts/pipeline-settings-file'
import { loadSettings } from '@km0/runtime'

/** The rules of the pipeline that wrote the rows. Delay and allowed lateness are records of the log. */
export function pipelineRules(program: string): PositionsSettings {
  const { version: _, ...positions } = loadSettings(program, process.env, (text, file) =>
    readPipelineSettings(text, file, process.env),
  ).positions
  const { delayMs, allowedLatenessMs } = DEFAULT_POSITIONS_SETTINGS
  return { ...positions, delayMs, allowedLatenessMs }
}
