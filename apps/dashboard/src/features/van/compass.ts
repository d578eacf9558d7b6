const POINTS = ['N', 'NE', 'E', 'SE', 'S', 'SW', 'W', 'NW'] as const
export type CompassPoint = (typeof POINTS)[number]

/** The nearest of eight points of the compass. */
export function compassPoint(degrees: number): CompassPoint {
  return POINTS[Math.round((((degrees % 360) + 360) % 360) / 45) % 8] as CompassPoint
}
