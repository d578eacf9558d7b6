import type { MarkerIcon } from './prepare-markers.ts'

/** Size of an image in CSS pixels, and how many device pixels each has. */
export const ICON_SIZE_PX = 28
const RATIO = 3

export interface IconColors {
  readonly moving: string
  readonly stopped: string
  readonly silent: string
  readonly provisional: string
  readonly faint: string
  readonly halo: string
  readonly onSilent: string
}

export const ICON_RATIO = RATIO

const POINT_SIZE_PX = 16

/** The image of a marker. Shape tells the state as well as colour does; what is doubtful is hollow and dashed. */
export function drawIcon(icon: MarkerIcon, colors: IconColors): ImageData {
  return draw(ICON_SIZE_PX, (context) => DRAW[icon](context, colors))
}

function draw(sizePx: number, paint: (context: CanvasRenderingContext2D) => void): ImageData {
  const canvas = document.createElement('canvas')
  canvas.width = sizePx * RATIO
  canvas.height = sizePx * RATIO
  const context = canvas.getContext('2d', { willReadFrequently: true })
  if (context === null) throw new Error('the browser gives no 2D canvas')
  context.scale(RATIO, RATIO)
  context.translate(sizePx / 2, sizePx / 2)
  context.lineJoin = 'round'
  context.lineCap = 'round'
  paint(context)
  return context.getImageData(0, 0, canvas.width, canvas.height)
}

type Draw = (context: CanvasRenderingContext2D, colors: IconColors) => void

const arrow = (context: CanvasRenderingContext2D, scale = 1) => {
  context.beginPath()
  context.moveTo(0, -9 * scale)
  context.lineTo(6.6 * scale, 7.4 * scale)
  context.lineTo(0, 4 * scale)
  context.lineTo(-6.6 * scale, 7.4 * scale)
  context.closePath()
}
const circle = (context: CanvasRenderingContext2D, radius: number) => {
  context.beginPath()
  context.arc(0, 0, radius, 0, 2 * Math.PI)
}
const square = (context: CanvasRenderingContext2D, half: number) => {
  context.beginPath()
  context.roundRect(-half, -half, 2 * half, 2 * half, 2.4)
}
const cross = (context: CanvasRenderingContext2D, half: number, color: string, width: number) => {
  context.beginPath()
  context.moveTo(-half, -half)
  context.lineTo(half, half)
  context.moveTo(half, -half)
  context.lineTo(-half, half)
  context.strokeStyle = color
  context.lineWidth = width
  context.stroke()
}
const question = (context: CanvasRenderingContext2D, color: string) => {
  context.beginPath()
  context.arc(0, -1.3, 1.9, -Math.PI, Math.PI * 0.35)
  context.lineTo(0, 1.2)
  context.moveTo(0, 3.4)
  context.lineTo(0, 3.5)
  context.strokeStyle = color
  context.lineWidth = 1.5
  context.stroke()
}
const fill = (context: CanvasRenderingContext2D, color: string, halo: string) => {
  context.strokeStyle = halo
  context.lineWidth = 3
  context.stroke()
  context.fillStyle = color
  context.fill()
}
const hollow = (context: CanvasRenderingContext2D, color: string, halo: string, dash: number[]) => {
  context.fillStyle = halo
  context.fill()
  context.strokeStyle = halo
  context.lineWidth = 4
  context.stroke()
  context.setLineDash(dash)
  context.strokeStyle = color
  context.lineWidth = 2
  context.stroke()
  context.setLineDash([])
}

const DRAW: Record<MarkerIcon, Draw> = {
  moving: (context, colors) => {
    arrow(context)
    fill(context, colors.moving, colors.halo)
  },
  'moving-unknown': (context, colors) => {
    circle(context, 5.6)
    fill(context, colors.moving, colors.halo)
  },
  stopped: (context, colors) => {
    square(context, 5.4)
    fill(context, colors.stopped, colors.halo)
  },
  silent: (context, colors) => {
    circle(context, 9.5)
    fill(context, colors.silent, colors.halo)
    cross(context, 3.6, colors.onSilent, 2.6)
  },
  provisional: (context, colors) => {
    circle(context, 8.4)
    hollow(context, colors.provisional, colors.halo, [3.4, 3.2])
    cross(context, 3, colors.provisional, 2)
  },
  'not-seen': (context, colors) => {
    circle(context, 6)
    hollow(context, colors.faint, colors.halo, [])
    cross(context, 2.2, colors.faint, 1.6)
  },
  unknown: (context, colors) => {
    circle(context, 7)
    hollow(context, colors.faint, colors.halo, [2, 2.6])
    question(context, colors.faint)
  },
  'doubtful-moving': (context, colors) => {
    arrow(context, 0.95)
    hollow(context, colors.moving, colors.halo, [3, 2.4])
  },
  'doubtful-moving-unknown': (context, colors) => {
    circle(context, 5.6)
    hollow(context, colors.moving, colors.halo, [3, 2.4])
  },
  'doubtful-stopped': (context, colors) => {
    square(context, 5.4)
    hollow(context, colors.stopped, colors.halo, [3, 2.4])
  },
}

export const ICONS = Object.keys(DRAW) as MarkerIcon[]

/** Images of single points, by how they were taken: shape tells it as well as colour does. */
export const POINT_ICONS = ['accepted', 'late', 'refused'] as const

export interface PointColors {
  readonly accepted: string
  readonly late: string
  readonly refused: string
  readonly halo: string
}

export function drawPoint(icon: (typeof POINT_ICONS)[number], colors: PointColors): ImageData {
  return draw(POINT_SIZE_PX, (context) => {
    if (icon === 'refused') {
      cross(context, 3.6, colors.halo, 4.6)
      cross(context, 3.6, colors.refused, 2.2)
    } else if (icon === 'late') {
      context.beginPath()
      context.moveTo(0, -4.6)
      context.lineTo(4.6, 0)
      context.lineTo(0, 4.6)
      context.lineTo(-4.6, 0)
      context.closePath()
      hollow(context, colors.late, colors.halo, [])
    } else {
      circle(context, 3)
      fill(context, colors.accepted, colors.halo)
    }
  })
}
