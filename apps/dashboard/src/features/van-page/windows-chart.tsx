'use client'

import 'uplot/dist/uPlot.min.css'
import type { VanDayView } from '@km0/contracts/van-day-panel'
import { useTranslations } from 'next-intl'
import { useEffect, useRef, useState } from 'react'
import type uPlot from 'uplot'
import { CLOCK } from '../feed/time-formats.ts'
import { useTimes } from '../feed/use-times.ts'
import { hoursOfDay } from '../playback/instants.ts'
import type { Theme } from '../shell/theme.ts'
import type { WindowSeries } from './prepare-windows.ts'
import styles from './van-page.module.css'

const HEIGHT_PX = 148
/** Room for a label of an hour. */
const LABEL_PX = 46

/**
 * Loads the library. It asks for the number format of the browser's language as it is loaded, and a browser on a Linux without locale calls that
 * `en-US@posix`, which no format knows: the page's language is said instead.
 */
async function loadChart(): Promise<typeof uPlot> {
  try {
    new Intl.NumberFormat(navigator.language)
  } catch {
    Object.defineProperty(navigator, 'language', { value: document.documentElement.lang, configurable: true })
  }
  return (await import('uplot')).default
}

export interface WindowsChartProps {
  readonly day: VanDayView['day']
  readonly series: WindowSeries
  readonly atMs: number
  readonly theme: Theme
  readonly onPick: (endMs: number) => void
}

/** Sliding distance by the end of its window. A missing window is a gap; one that is open is hollow. A click chooses one. */
export default function WindowsChart(props: WindowsChartProps) {
  const t = useTranslations('vanPage')
  const format = useTimes()
  const box = useRef<HTMLDivElement>(null)
  const chart = useRef<uPlot | null>(null)
  const [Chart, setChart] = useState<typeof uPlot | null>(null)
  const latest = useRef(props)
  latest.current = props
  const { day, series, theme, atMs } = props
  const clock = useRef((ms: number) => format.dateTime(ms, CLOCK))
  clock.current = (ms) => format.dateTime(ms, CLOCK)

  useEffect(() => {
    let isHere = true
    loadChart().then(
      (loaded) => isHere && setChart(() => loaded),
      // The windows that are open stand below it, and the moment's window has a button.
      (error: unknown) => console.error(error),
    )
    return () => {
      isHere = false
    }
  }, [])
  // biome-ignore lint/correctness/useExhaustiveDependencies: another theme is another chart; its data comes below
  useEffect(() => {
    const element = box.current
    if (element === null || Chart === null) return
    const made = new Chart(optionsOf(element.clientWidth, latest, clock), [[], [], []], element)
    chart.current = made
    const watcher = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT_PX }))
    watcher.observe(element)
    return () => {
      watcher.disconnect()
      chart.current = null
      made.destroy()
    }
  }, [Chart, theme, day.startMs])
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new chart needs its data too
  useEffect(() => {
    chart.current?.setData([series.endMs.map((ms) => ms / 1_000), [...series.closed], [...series.open]])
  }, [Chart, series, theme, day.startMs])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the line of the moment moves with it
  useEffect(() => chart.current?.redraw(false), [atMs])

  const known = series.closed.filter((km) => km !== null)
  const label = t('chartLabel', {
    windows: known.length,
    open: series.openWindows.length,
    most: format.number(Math.max(0, ...known), { maximumFractionDigits: 1 }),
  })
  return <div ref={box} className={styles.chart} role="img" aria-label={label} data-open={series.openWindows.length} />
}

type Latest = { readonly current: WindowsChartProps }

function optionsOf(width: number, latest: Latest, clock: { readonly current: (ms: number) => string }): uPlot.Options {
  const style = getComputedStyle(document.documentElement)
  const colour = (name: string) => style.getPropertyValue(name).trim()
  const axis = {
    stroke: colour('--text-soft'),
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
    font: '11px Inter Variable, sans-serif',
  }
  const lone = (u: uPlot, index: number) => loneAmong(u.data[index] ?? [])
  return {
    width,
    height: HEIGHT_PX,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 7 } },
    scales: {
      x: { time: false, range: () => [latest.current.day.startMs / 1_000, latest.current.day.endMs / 1_000] },
      y: { range: (_u, _least, most) => [0, Math.max(0.5, most ?? 0) * 1.08] },
    },
    axes: [
      {
        ...axis,
        splits: (u) => hoursThatFit(u, latest.current.day),
        values: (_u, splits) => splits.map((seconds) => clock.current(seconds * 1_000)),
      },
      { ...axis, size: 38, values: (_u, splits) => splits.map((km) => String(km)) },
    ],
    series: [
      {},
      {
        stroke: colour('--spark'),
        fill: colour('--spark-area'),
        width: 1.6,
        spanGaps: false,
        // A window between two gaps makes no line: it is a dot.
        points: { show: true, size: 4, filter: (u, index) => lone(u, index) },
      },
      {
        stroke: colour('--episode'),
        width: 1.6,
        dash: [3, 3],
        spanGaps: false,
        points: { show: true, size: 7, width: 1.8, fill: colour('--surface') },
      },
    ],
    hooks: {
      draw: [(u) => drawMoment(u, latest.current.atMs, colour('--text'))],
      ready: [
        (u) =>
          u.over.addEventListener('click', () => {
            const { idx } = u.cursor
            const endMs = idx === null || idx === undefined ? undefined : latest.current.series.endMs[idx]
            if (endMs !== undefined) latest.current.onPick(endMs)
          }),
      ],
    },
  }
}

function loneAmong(values: ArrayLike<number | null | undefined>): number[] {
  const isThere = (index: number) => values[index] !== null && values[index] !== undefined
  return Array.from({ length: values.length }, (_, index) => index).filter(
    (index) => isThere(index) && !isThere(index - 1) && !isThere(index + 1),
  )
}

function hoursThatFit(u: uPlot, day: VanDayView['day']): number[] {
  const hours = hoursOfDay(day)
  const step = [1, 2, 3, 4, 6, 12].find((every) => (u.bbox.width / devicePixelRatio / hours.length) * every >= LABEL_PX) ?? 12
  // The hour that occurs twice has no room for its offset; the timeline tells it.
  return hours.filter(({ hour, offset }) => hour % step === 0 && offset === null).map(({ ms }) => ms / 1_000)
}

function drawMoment(u: uPlot, atMs: number, colour: string): void {
  const x = Math.round(u.valToPos(atMs / 1_000, 'x', true))
  if (x < u.bbox.left || x > u.bbox.left + u.bbox.width) return
  u.ctx.save()
  u.ctx.strokeStyle = colour
  u.ctx.lineWidth = devicePixelRatio
  u.ctx.beginPath()
  u.ctx.moveTo(x, u.bbox.top)
  u.ctx.lineTo(x, u.bbox.top + u.bbox.height)
  u.ctx.stroke()
  u.ctx.restore()
}
