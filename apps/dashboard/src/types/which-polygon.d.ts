declare module 'which-polygon' {
  /** Properties of a polygon that holds the point [lon, lat]; null when none does. */
  type Lookup<Properties> = (point: readonly [number, number]) => Properties | null
  export default function whichPolygon<Properties>(collection: {
    type: 'FeatureCollection'
    features: readonly { properties: Properties }[]
  }): Lookup<Properties>
}
