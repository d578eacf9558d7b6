import type { PositionsSettings } from '@km0/contracts'
import { type WindowShape, windowShape } from '@km0/windowing'
import { DistanceOperator } from './distance.ts'
import { LivePointOperator } from './live-point.ts'
import { SignalOperator } from './signal.ts'
import { StepRules } from './steps.ts'

/** The operators of the positions pipeline; live and batch run the same. They hold no state: that is in each van. */
export interface PositionsOperators {
  readonly settings: PositionsSettings
  readonly shape: WindowShape
  readonly rules: StepRules
  readonly distance: DistanceOperator
  readonly signal: SignalOperator
  /** null when live points are off. */
  readonly live: LivePointOperator | null
}

const DURATIONS = ['sessionGapMs', 'delayMs', 'allowedLatenessMs', 'maxSegmentMs', 'maxFutureMs', 'maxAgeMs'] as const
const LIVE_SETTINGS = ['liveMemoryMs', 'stopDistanceMm', 'stopAfterMs', 'stopMemoryMs', 'stopLeastMs'] as const

/** Builds the operators. Throws a RangeError that names the setting that makes no sense. */
export function positionsOperators(settings: PositionsSettings): PositionsOperators {
  for (const name of [...DURATIONS, ...LIVE_SETTINGS]) {
    if (!Number.isSafeInteger(settings[name]) || settings[name] < 0) {
      throw new RangeError(`${name} is ${settings[name]}: it must be a whole number, 0 or more`)
    }
  }
  if (!(settings.topSpeedMmPerMs >= 0)) throw new RangeError(`topSpeedMmPerMs is ${settings.topSpeedMmPerMs}: it must be 0 or more`)
  if (settings.stopLeastMs === 0 || settings.stopMemoryMs < settings.stopAfterMs) {
    throw new RangeError('stopLeastMs must be above 0, and stopMemoryMs at least stopAfterMs')
  }
  const shape = windowShape(settings.windowSizeMs, settings.slideMs)
  const rules = new StepRules(settings)
  return {
    settings,
    shape,
    rules,
    distance: new DistanceOperator(shape, rules),
    signal: new SignalOperator(settings.sessionGapMs),
    live: settings.livePoints ? new LivePointOperator(rules, settings) : null,
  }
}
