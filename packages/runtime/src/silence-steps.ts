import { z } from 'zod'

/** After how long a silence is listed and told of. The panel and the stream program read the same setting. */
export const silenceStepsEnvironment = {
  KM0_SILENCE_STEPS_MIN: z
    .string()
    .default('3,15,60')
    .transform((text, context): [number, number, number] => {
      const [first = 0, second = 0, third = 0, ...more] = text.split(',').map(Number)
      const steps = [first, second, third]
      if (!(steps.every(Number.isInteger) && first >= 1 && second > first && third > second && third <= 1_440) || more.length > 0) {
        context.addIssue('is not three growing whole numbers of minutes, comma separated, from 1 to 1440')
      }
      return [first, second, third]
    })
    .describe('minutes of silence: listed, long, very long'),
}

/** The steps of the setting, in milliseconds, growing. */
export function silenceStepsMs(settings: { readonly KM0_SILENCE_STEPS_MIN: readonly [number, number, number] }) {
  const [first, second, third] = settings.KM0_SILENCE_STEPS_MIN
  return [first * 60_000, second * 60_000, third * 60_000] as const
}
