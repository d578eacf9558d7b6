import type { BackfillRequest } from '@km0/contracts/backfill'
import { useTranslations } from 'next-intl'
import { DAY_AND_CLOCK } from '../feed/time-formats.ts'
import { useTimes } from '../feed/use-times.ts'

/** Which hours and whose, in a line. */
export function useRangeText(): (request: BackfillRequest) => string {
  const t = useTranslations('backfills')
  const format = useTimes()
  return ({ fromMs, toMs, owners, pipeline }) => {
    const range = `${format.dateTime(fromMs, DAY_AND_CLOCK)} – ${format.dateTime(toMs, DAY_AND_CLOCK)}`
    const whose =
      owners === null
        ? t(`all.${pipeline}`)
        : owners.length <= 3
          ? owners.join(', ')
          : t('some', { first: owners.slice(0, 2).join(', '), more: owners.length - 2 })
    return `${range} · ${whose}`
  }
}
