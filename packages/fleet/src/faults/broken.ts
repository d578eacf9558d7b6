import { encodePosition, type PositionFix } from '@km0/contracts'

export const BROKEN_VARIANTS = [
  'json',
  'types',
  'seconds',
  'empty',
  'utf8',
  'range',
  'missing',
  'ancient',
  'future',
  'identity',
  'big',
] as const
export type BrokenVariant = (typeof BROKEN_VARIANTS)[number]

/** Those that come by chance: what clients have been seen to send. */
export const CHANCE_VARIANTS: readonly BrokenVariant[] = ['json', 'types', 'seconds', 'empty', 'utf8', 'range', 'missing', 'ancient']

const DAY_MS = 86_400_000
const BIG_BYTES = 2 * 1024 * 1024

/** A payload that the platform refuses, made from a good fix. */
export function breakPayload(fix: PositionFix, variant: BrokenVariant): string | Buffer {
  const good = encodePosition(fix)
  switch (variant) {
    case 'json':
      return good.slice(0, -9)
    case 'types':
      return good.replace(/"lat":[^,]*/, `"lat":"${fix.lat}"`)
    case 'seconds':
      return encodePosition({ ...fix, eventMs: Math.floor(fix.eventMs / 1000) })
    case 'empty':
      return ''
    case 'utf8':
      return Buffer.concat([Buffer.from(good.slice(0, -1)), Buffer.of(0xff, 0xfe, 0x7d)])
    case 'range':
      return encodePosition({ ...fix, lat: 95 })
    case 'missing':
      return good.replace(/"lon":[^,]*,/, '')
    case 'ancient':
      return encodePosition({ ...fix, eventMs: fix.eventMs - 1024 * 7 * DAY_MS })
    case 'future':
      return encodePosition({ ...fix, eventMs: fix.eventMs + DAY_MS })
    case 'identity':
      return encodePosition({ ...fix, van: `${fix.van}-altra` })
    case 'big':
      return `${good.slice(0, -1)},"nota":"${'x'.repeat(BIG_BYTES)}"}`
  }
}
