/** Times of day as a control room reads them, in every language: 24 hours. */
export const CLOCK = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const
export const CLOCK_SECONDS = { ...CLOCK, second: '2-digit' } as const
export const DAY_AND_CLOCK = { ...CLOCK, weekday: 'short', day: 'numeric', month: 'short' } as const
