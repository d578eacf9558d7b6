import { lookup } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'

/** Addresses that are not of the public internet (RFC 6890 and its registries): whoever may set a webhook must not reach into the house. */
const BLOCKED_V4 = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24', '192.0.2.0/24'],
  ...['192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
]
/** Only 2000::/3 is public, less what carries IPv4 within or is for documents. */
const BLOCKED_V6 = ['::/3', '4000::/2', '8000::/1', '2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']

function listOf(nets: readonly string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList()
  for (const net of nets) {
    const [address = '', bits] = net.split('/')
    list.addSubnet(address, Number(bits), family)
  }
  return list
}

/** A list each: in one, an IPv6 address is compared with the nets of IPv4 too, and found in them. */
const blockedV4 = listOf(BLOCKED_V4, 'ipv4')
const blockedV6 = listOf(BLOCKED_V6, 'ipv6')

/** Whether an address, as a number, is of the public internet. */
export function isPublic(address: string): boolean {
  const family = isIP(address)
  return family === 4 ? !blockedV4.check(address, 'ipv4') : family === 6 && !blockedV6.check(address, 'ipv6')
}

/** The receiver stands where no webhook may go. */
export class PrivateAddressError extends Error {
  override readonly name = 'PrivateAddressError'

  constructor(host: string, address: string) {
    super(`${host} is ${address}, which is no public address; KM0_WEBHOOK_PRIVATE=true allows it`)
  }
}

/** Host of a URL as sockets take it. */
export const hostOf = (url: URL) => url.hostname.replace(/^\[|\]$/g, '')

/** Throws PrivateAddressError for a URL whose host is a number that is not public; names are judged when they are looked up. */
export function requirePublic(url: URL): void {
  const host = hostOf(url)
  if (isIP(host) !== 0 && !isPublic(host)) throw new PrivateAddressError(host, host)
}

/**
 * Looks a name up for a connection, and refuses it when any of its addresses is not public. The connection goes to what was judged, so a name that
 * changes its address meanwhile gains nothing.
 */
export const publicLookup: LookupFunction = (host, options, callback) => {
  lookup(host, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return callback(error, '', 0)
    const bad = addresses.find(({ address }) => !isPublic(address))
    const [first] = addresses
    if (bad !== undefined || first === undefined) return callback(new PrivateAddressError(host, bad?.address ?? 'nowhere'), '', 0)
    if (options.all === true) callback(null, addresses)
    else callback(null, first.address, first.family)
  })
}
