import { type Depot, type Market, madridDate, type RegisteredVan, type RegisterKind, type Shift } from '@km0/contracts'

/** What is in the register, of a scope. */
export interface StoredRegister {
  readonly depots: readonly Depot[]
  readonly vans: readonly RegisteredVan[]
  readonly markets: readonly Market[]
  readonly shifts: readonly Shift[]
}

/** A part of the register as the CSV file that an import takes (RFC 4180, UTF-8): importing it again changes nothing. */
export function registerCsv(kind: RegisterKind, register: StoredRegister): string {
  const lines = [HEADS[kind], ...cellsOf(kind, register)]
  return `${lines.map((cells) => cells.map(quoted).join(',')).join('\r\n')}\r\n`
}

const HEADS: Readonly<Record<RegisterKind, readonly string[]>> = {
  depots: ['id', 'name', 'lat', 'lon', 'markets', 'shift_start', 'shift_end'],
  vans: ['van', 'name', 'plate', 'depot', 'in_service_from', 'in_service_to'],
  markets: ['id', 'name', 'zone'],
  shifts: ['depot', 'day', 'start', 'end'],
}

function cellsOf(kind: RegisterKind, { depots, vans, markets, shifts }: StoredRegister): string[][] {
  if (kind === 'depots') {
    return depots.map(({ id, name, lat, lon, markets: sold, shiftStart, shiftEnd }) => [
      ...[id, name, decimal(lat), decimal(lon), sold.join(';'), shiftStart ?? '', shiftEnd ?? ''],
    ])
  }
  if (kind === 'vans') {
    return vans.map(({ van, name, plate, depotId, inServiceFromMs, inServiceToMs }) => {
      // The end is where the day after the last one begins.
      const lastDay = inServiceToMs === null ? '' : madridDate(inServiceToMs - 1)
      return [van, name, plate ?? '', depotId ?? '', inServiceFromMs === null ? '' : madridDate(inServiceFromMs), lastDay]
    })
  }
  if (kind === 'markets') return markets.map(({ id, name, zone }) => [id, name, zone === null ? '' : JSON.stringify(zone)])
  return shifts.map(({ depotId, day, start, end }) => [depotId, day, start ?? '', end ?? ''])
}

/** Never with an exponent, which an import does not take. */
const decimal = (degrees: number) => (/e/i.test(String(degrees)) ? degrees.toFixed(9) : String(degrees))

const quoted = (cell: string) => (/[",\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)
