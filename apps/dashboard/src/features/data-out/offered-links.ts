import type { SessionView } from '@km0/contracts/sign-in'

/**
 * Links that somebody may be offered: where files of theirs name no van, those that the server makes, which masks them, and none that a page makes of
 * what it shows.
 */
export function offeredLinks<Link extends { readonly from: unknown }>(
  links: readonly Link[],
  session: SessionView['session'],
): readonly Link[] {
  return session?.filesMasked === true ? links.filter(({ from }) => typeof from === 'string') : links
}
