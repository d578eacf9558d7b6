/** Where a van of the panel's bench is at a moment: on a circle of its own in and around Girona, at about 11 m/s, a pixel a second at the bench's zoom. */
export function placeOf(van: number, atMs: number): { readonly lat: string; readonly lon: string } {
  const turn = atMs / 40_000 + van
  const lat = 41.955 + ((van * 37) % 100) / 2_000 + 0.004 * Math.sin(turn)
  const lon = 2.76 + ((van * 61) % 100) / 830 + 0.0053 * Math.cos(turn)
  return { lat: lat.toFixed(6), lon: lon.toFixed(6) }
}

export function vanNameOf(van: number): string {
  return `furgoneta-${van}`
}

/** Whether a place that was drawn is the one that the van has published for that moment. */
export function isPublished(
  name: string,
  { eventMs, lat, lon }: { readonly eventMs: number; readonly lat: number; readonly lon: number },
): boolean {
  const van = Number(/^furgoneta-(\d+)$/.exec(name)?.[1])
  const right = placeOf(van, eventMs)
  return lat.toFixed(6) === right.lat && lon.toFixed(6) === right.lon
}
