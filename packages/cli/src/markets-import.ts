import { MARKET_COLUMNS } from '@km0/serving/register/register-csv'
import { importCommand } from './import-command.ts'

export const marketsImport = importCommand({
  what: 'markets',
  columns: MARKET_COLUMNS,
  notes: '  zone is GeoJSON in one cell: a Polygon or MultiPolygon, or a Feature or FeatureCollection of them.',
})
