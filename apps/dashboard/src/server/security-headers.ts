/**
 * Headers of every answer. Nothing is loaded from elsewhere, except for a customer's own map style, whose tiles may come from anywhere.
 * Next writes its data as inline scripts, and MapLibre sets inline styles.
 */
export function securityHeaders(mapStyleUrl: string | null): readonly (readonly [string, string])[] {
  const elsewhere = mapStyleUrl === null ? '' : ' https: http:'
  const policy = [
    "default-src 'self'",
    "script-src 'self' 'unsafe-inline'",
    "style-src 'self' 'unsafe-inline'",
    `img-src 'self' data: blob:${elsewhere}`,
    `font-src 'self' data:${elsewhere}`,
    `connect-src 'self'${elsewhere}`,
    "worker-src 'self' blob:",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'self'",
  ]
  return [
    ['content-security-policy', policy.join('; ')],
    ['x-content-type-options', 'nosniff'],
    ['referrer-policy', 'same-origin'],
  ]
}
