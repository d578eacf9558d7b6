/** The smallest archive of vector tiles (PMTiles 3) that shows anything: one tile of the whole world with one road through the province. */
export function tinyTiles(): Buffer {
  const tile = road()
  const metadata = Buffer.from('{}')
  // One entry: tile 0, once, its length, at the start (offset + 1).
  const directory = Buffer.concat([varint(1), varint(0), varint(1), varint(tile.length), varint(1)])
  const header = Buffer.alloc(127)
  header.write('PMTiles', 0, 'latin1')
  header[7] = 3
  const long = (at: number, value: number) => header.writeBigUInt64LE(BigInt(value), at)
  const [directoryAt, metadataAt] = [127, 127 + directory.length]
  const tilesAt = metadataAt + metadata.length
  for (const [at, value] of [
    [8, directoryAt],
    [16, directory.length],
    [24, metadataAt],
    [32, metadata.length],
    [40, tilesAt],
    [48, 0],
    [56, tilesAt],
    [64, tile.length],
    [72, 1],
    [80, 1],
    [88, 1],
  ] as const)
    long(at, value)
  // Clustered; neither directories nor tiles are compressed; Mapbox vector tiles.
  header.set([1, 1, 1, 1, 0, 0], 96)
  for (const [at, degrees] of [
    [102, -180],
    [106, -85],
    [110, 180],
    [114, 85],
  ] as const)
    header.writeInt32LE(degrees * 1e7, at)
  return Buffer.concat([header, directory, metadata, tile])
}

const EXTENT = 4_096

/** A tile with a layer `roads` that holds one line of kind `highway`, from Blanes to Figueres. */
function road(): Buffer {
  const place = (lon: number, lat: number): [number, number] => [
    Math.round(((lon + 180) / 360) * EXTENT),
    Math.round((0.5 - Math.log(Math.tan(Math.PI / 4 + (lat * Math.PI) / 360)) / (2 * Math.PI)) * EXTENT),
  ]
  const [[fromX, fromY], [toX, toY]] = [place(2.0, 41.6), place(3.2, 42.5)]
  const zigzag = (value: number) => varint((value << 1) ^ (value >> 31))
  // MoveTo, one point; LineTo, one point.
  const geometry = [varint(9), zigzag(fromX), zigzag(fromY), varint(10), zigzag(toX - fromX), zigzag(toY - fromY)]
  const feature = [field(2, Buffer.concat([varint(0), varint(0)])), number(3, 2), field(4, Buffer.concat(geometry))]
  const value = field(1, Buffer.from('highway'))
  const layer = [
    field(1, Buffer.from('roads')),
    field(2, Buffer.concat(feature)),
    field(3, Buffer.from('kind')),
    field(4, value),
    number(5, EXTENT),
    number(15, 2),
  ]
  return field(3, Buffer.concat(layer))
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128)
  return Buffer.from([...bytes, rest])
}

function field(tag: number, content: Buffer): Buffer {
  return Buffer.concat([varint(tag * 8 + 2), varint(content.length), content])
}

function number(tag: number, value: number): Buffer {
  return Buffer.concat([varint(tag * 8), varint(value)])
}
