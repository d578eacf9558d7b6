'use client'

import { useTimes } from '../feed/use-times.ts'

/** Days and times as people here read them. */
export function useDates() {
  const format = useTimes()
  return {
    date: (atMs: number) => format.dateTime(atMs, { dateStyle: 'medium', timeStyle: 'short', timeZone: 'Europe/Madrid' }),
  }
}
