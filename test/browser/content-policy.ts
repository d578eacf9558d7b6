/** Runs in a page before its own scripts: `window.refused` holds what its content security policy has refused, `DIRECTIVE WHAT` each. */
export function noteRefused(): void {
  const refused: string[] = []
  Object.assign(window, { refused })
  document.addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) =>
    refused.push(`${effectiveDirective} ${blockedURI}`),
  )
}
