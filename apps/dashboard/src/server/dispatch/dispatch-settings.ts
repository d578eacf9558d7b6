import { DEFAULT_DISPATCH_LIMITS, type DispatchLimits } from '@km0/contracts'
import { silenceStepsEnvironment, silenceStepsMs } from '@km0/runtime/silence-steps'
import { z } from 'zod'

const DEFAULTS = DEFAULT_DISPATCH_LIMITS

/** Settings of dispatch, as the environment has them. */
export const dispatchEnvironment = {
  ...silenceStepsEnvironment,
  KM0_DEPOT_DISTANCE_M: z.coerce
    .number()
    .min(0)
    .max(10_000)
    .default(DEFAULTS.depotDistanceMm / 1_000)
    .describe('metres; a van without calendar whose last point is nearer to its depot is at the depot'),
  KM0_STOPPED_DISPLACEMENT_M: z.coerce
    .number()
    .min(0)
    .max(10_000)
    .default(DEFAULTS.stoppedDisplacementMm / 1_000)
    .describe('metres; a window of two positions or more whose ends are nearer is of a van that stands'),
  KM0_USUAL_MIN_WINDOWS: z.coerce
    .number()
    .int()
    .min(1)
    .max(100_000)
    .default(DEFAULTS.usualMinWindows)
    .describe('windows of the four weeks before; a distance is not judged by fewer'),
  KM0_RETURNED_SHOWN_S: z.coerce
    .number()
    .int()
    .min(0)
    .max(3_600)
    .default(DEFAULTS.returnedShownMs / 1_000)
    .describe('seconds for which a van that is heard again is shown with the length of its silence'),
}

const schema = z.object(dispatchEnvironment)

/** The limits that the settings give. */
export function dispatchLimits(settings: z.infer<typeof schema>): DispatchLimits {
  return {
    silenceStepsMs: silenceStepsMs(settings),
    depotDistanceMm: settings.KM0_DEPOT_DISTANCE_M * 1_000,
    stoppedDisplacementMm: settings.KM0_STOPPED_DISPLACEMENT_M * 1_000,
    usualMinWindows: settings.KM0_USUAL_MIN_WINDOWS,
    returnedShownMs: settings.KM0_RETURNED_SHOWN_S * 1_000,
  }
}
