import { type CsvCell, csvText } from '@km0/contracts/csv'

/** A table that leaves the panel: its columns, and a row each. Columns `lat` and `lon` are places, for GeoJSON. */
export interface ExportTable {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly CsvCell[])[]
}

/** Times stand as ISO 8601 in UTC: they are read by programs. */
export const isoTime = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString())

/** A table as GeoJSON (RFC 7946): a point where the row has a place, no geometry where it has none. */
export function geoJsonOf({ columns, rows }: ExportTable): object {
  const [lat, lon] = [columns.indexOf('lat'), columns.indexOf('lon')]
  return {
    type: 'FeatureCollection',
    features: rows.map((row) => ({
      type: 'Feature',
      geometry: row[lat] == null || row[lon] == null ? null : { type: 'Point', coordinates: [row[lon], row[lat]] },
      properties: Object.fromEntries(
        columns.flatMap((name, index) => (index === lat || index === lon ? [] : [[name, row[index] ?? null]])),
      ),
    })),
  }
}

/** A file that the browser makes of what is on the page. */
export interface PageFile {
  readonly name: string
  readonly type: string
  readonly text: string
}

export const csvFile = (name: string, { columns, rows }: ExportTable): PageFile => ({
  ...{ name: `${name}.csv`, type: 'text/csv;charset=utf-8', text: csvText(columns, rows) },
})
export const geoJsonFile = (name: string, table: ExportTable): PageFile => ({
  ...{ name: `${name}.geojson`, type: 'application/geo+json', text: JSON.stringify(geoJsonOf(table)) },
})

/** Letters, digits and dashes, for the name of a file: `km0-` and the parts. */
export const fileName = (...parts: readonly string[]) => ['km0', ...parts.map((part) => part.replaceAll(/[^\w-]+/g, '_'))].join('-')
/** To the minute, in UTC, as files of the server are named. */
export const fileStamp = (ms: number) => new Date(ms).toISOString().slice(0, 16).replace(':', '')
