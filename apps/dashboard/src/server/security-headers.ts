import type { IncomingHttpHeaders } from 'node:http'

export interface SecurityHeaders {
  /** Of this answer alone: scripts of its page carry it, and no others run. */
  readonly nonce: string
  /** A customer's own map style, whose tiles may come from anywhere; null: nothing is loaded from elsewhere. */
  readonly mapStyleUrl: string | null
  /** For so long a browser comes by https alone; 0: not said, as over plain http it must not be. */
  readonly hstsSeconds: number
}

/**
 * Headers of every answer. Scripts are our own files, and those inline ones that carry the nonce; none is made out of text. MapLibre starts its
 * worker from a blob and, like the pages, sets inline styles.
 */
export function securityHeaders({ nonce, mapStyleUrl, hstsSeconds }: SecurityHeaders): readonly (readonly [string, string])[] {
  const elsewhere = mapStyleUrl === null ? '' : ' https: http:'
  const policy = [
    "default-src 'self'",
    `script-src 'self' 'nonce-${nonce}'`,
    "script-src-attr 'none'",
    "style-src 'self' 'unsafe-inline'",
    `img-src 'self' data: blob:${elsewhere}`,
    `font-src 'self' data:${elsewhere}`,
    `connect-src 'self'${elsewhere}`,
    "worker-src 'self' blob:",
    "object-src 'none'",
    "frame-src 'none'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'self'",
  ]
  return [
    [CSP, policy.join('; ')],
    ['x-content-type-options', 'nosniff'],
    ['x-frame-options', 'DENY'],
    ['referrer-policy', 'same-origin'],
    ['cross-origin-opener-policy', 'same-origin'],
    ['cross-origin-resource-policy', 'same-origin'],
    ['permissions-policy', 'camera=(), geolocation=(), microphone=(), payment=(), usb=()'],
    ...(hstsSeconds > 0 ? [['strict-transport-security', `max-age=${hstsSeconds}`] as const] : []),
  ]
}

const CSP = 'content-security-policy'

/**
 * Tells Next the nonce: it looks for it in the policy among the headers of the request, and gives it to each script of the page that it makes for
 * that request (https://nextjs.org/docs/app/guides/content-security-policy). Whatever the sender says there is replaced.
 */
export function tellNonce(headers: IncomingHttpHeaders, answered: readonly (readonly [string, string])[]): void {
  delete headers['content-security-policy-report-only']
  headers[CSP] = answered.find(([name]) => name === CSP)?.[1] ?? ''
}
