/** Exponent b of y = a·x^b, by least squares over the logarithms; 1 is a straight line. Values are above 0. */
export function slope(points: readonly (readonly [number, number])[]): number {
  const logs = points.map(([x, y]) => [Math.log(x), Math.log(y)] as const)
  const meanX = logs.reduce((sum, [x]) => sum + x, 0) / logs.length
  const meanY = logs.reduce((sum, [, y]) => sum + y, 0) / logs.length
  const above = logs.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0)
  return above / logs.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0)
}
