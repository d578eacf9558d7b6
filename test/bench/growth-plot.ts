import { slope } from './growth-fit.ts'
import type { Cost } from './growth-run.ts'

export interface Curve {
  readonly axis: string
  readonly points: readonly (readonly [number, Cost])[]
}

const [PANEL_WIDTH, PANEL_HEIGHT, MARGIN] = [300, 240, 44]
/** Legible on white and on black. */
const LINES = [
  { name: 'CPU s', colour: '#2563eb', pick: ({ cpuSeconds }: Cost) => cpuSeconds },
  { name: 'state MB', colour: '#16a34a', pick: ({ stateMb }: Cost) => stateMb },
  { name: 'checkpoint MB', colour: '#d97706', pick: ({ checkpointMb }: Cost) => checkpointMb },
] as const

/** An SVG with a panel per axis, both of its scales logarithmic: a straight line's slope is the exponent, which its legend tells. */
export function plot(curves: readonly Curve[]): string {
  const width = curves.length * PANEL_WIDTH
  const panels = curves.map((curve, index) => `<g transform="translate(${index * PANEL_WIDTH} 0)">${panel(curve)}</g>`)
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${PANEL_HEIGHT + LINES.length * 14}" font-family="sans-serif" font-size="10" fill="#6b7280">`,
    '<title>Time, state and checkpoint by size, both axes logarithmic</title>',
    ...panels,
    '</svg>\n',
  ].join('\n')
}

function panel({ axis, points }: Curve): string {
  const xs = points.map(([at]) => at)
  const ys = points.flatMap(([, cost]) => LINES.map(({ pick }) => pick(cost))).filter((y) => y > 0)
  const x = logScale(Math.min(...xs), Math.max(...xs), MARGIN, PANEL_WIDTH - 12)
  const y = logScale(Math.min(...ys), Math.max(...ys), PANEL_HEIGHT - MARGIN, 24)
  const frame = `<path d="M${MARGIN} 24V${PANEL_HEIGHT - MARGIN}H${PANEL_WIDTH - 12}" fill="none" stroke="currentColor"/>`
  const ticksX = xs.map((at) => `<text x="${x(at)}" y="${PANEL_HEIGHT - MARGIN + 14}" text-anchor="middle">${short(at)}</text>`)
  const ticksY = powersBetween(Math.min(...ys), Math.max(...ys)).map(
    (at) => `<text x="${MARGIN - 4}" y="${y(at) + 3}" text-anchor="end">${short(at)}</text>`,
  )
  const title = `<text x="${PANEL_WIDTH / 2}" y="14" text-anchor="middle" font-weight="bold">${axis}</text>`
  const lines = LINES.map(({ name, colour, pick }, index) => {
    const places = points.map(([at, cost]) => [at, pick(cost)] as const).filter(([, value]) => value > 0)
    const path = places.map(([at, value], place) => `${place === 0 ? 'M' : 'L'}${x(at).toFixed(1)} ${y(value).toFixed(1)}`).join('')
    const legendY = PANEL_HEIGHT - 8 + index * 14
    return `<path d="${path}" fill="none" stroke="${colour}" stroke-width="2"/><text x="${MARGIN}" y="${legendY}" fill="${colour}">${name}: exponent ${slope(places).toFixed(2)}</text>`
  })
  return [title, frame, ...ticksX, ...ticksY, ...lines].join('')
}

function logScale(from: number, to: number, start: number, end: number): (value: number) => number {
  const span = Math.log(to / from) || 1
  return (value) => start + (Math.log(value / from) / span) * (end - start)
}

function powersBetween(from: number, to: number): number[] {
  const first = Math.ceil(Math.log10(from))
  return Array.from({ length: Math.max(0, Math.floor(Math.log10(to)) - first + 1) }, (_, index) => 10 ** (first + index))
}

function short(value: number): string {
  return value >= 1_000 ? `${value / 1_000}k` : String(Number(value.toPrecision(3)))
}
