'use client'

import { useFormatter } from 'next-intl'
import { useMemo } from 'react'
import { twiceOffset } from './twice-offset.ts'

type Formatter = ReturnType<typeof useFormatter>

/** The formatter of the page, whose times of day tell their offset in the hour that occurs twice: `02:30 +01:00`. */
export function useTimes(): Formatter {
  const format = useFormatter()
  return useMemo(() => {
    const dateTime = ((value: Date | number, ...rest: [unknown?, unknown?]) => {
      const text = (format.dateTime as (...given: unknown[]) => string)(value, ...rest)
      const [options] = rest
      const isTimeOfDay = typeof options === 'object' && options !== null && ('hour' in options || 'timeStyle' in options)
      const offset = isTimeOfDay ? twiceOffset(Number(value)) : null
      return offset === null ? text : `${text} ${offset}`
    }) as Formatter['dateTime']
    // A span that touches that hour tells both of its ends; any other leaves out what they share.
    const dateTimeRange = ((from: Date | number, to: Date | number, options?: Parameters<Formatter['dateTimeRange']>[2]) => {
      const isTimeOfDay = typeof options === 'object' && 'hour' in options
      if (isTimeOfDay && (twiceOffset(Number(from)) !== null || twiceOffset(Number(to)) !== null))
        return `${dateTime(Number(from), options)} – ${dateTime(Number(to), options)}`
      return (format.dateTimeRange as (...given: unknown[]) => string)(from, to, options)
    }) as Formatter['dateTimeRange']
    return { ...format, dateTime, dateTimeRange }
  }, [format])
}
