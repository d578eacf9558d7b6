/** The pages of the panel, by what one goes there for. A role: who may open it; null: everybody. */
const GROUPS = [
  {
    name: 'watch',
    pages: [
      { name: 'fleet', path: '/', roles: null },
      { name: 'stock', path: '/estoc', roles: null },
      { name: 'handOver', path: '/relleu', roles: null },
    ],
  },
  {
    name: 'analyse',
    pages: [
      { name: 'replay', path: '/reproduccio', roles: null },
      { name: 'days', path: '/dies', roles: null },
      { name: 'backfills', path: '/recalculs', roles: null },
      { name: 'ledger', path: '/balanc', roles: null },
      { name: 'operations', path: '/operacions', roles: null },
    ],
  },
  {
    name: 'administer',
    pages: [
      { name: 'register', path: '/flota', roles: null },
      // A wall screen and a program have nothing to set up there.
      { name: 'dataOut', path: '/dades', roles: ['dispatcher', 'analyst', 'administrator'] },
      { name: 'users', path: '/usuaris', roles: ['administrator'] },
    ],
  },
] as const

export type PageGroup = (typeof GROUPS)[number]
export type Page = PageGroup['pages'][number]['name']

/** Paths that next.config.mjs has found; null where nobody has looked. */
const there = process.env.KM0_PAGES?.split(',') ?? null

/** Groups with the pages that are there and that somebody with `roles` may open; null: nobody has said who they are. */
export function pageGroups(roles: readonly string[] | null, paths: readonly string[] | null = there) {
  return GROUPS.map(({ name, pages }) => ({
    name,
    pages: pages.filter(
      (page) => (paths?.includes(page.path) ?? true) && (page.roles === null || page.roles.some((role) => roles?.includes(role))),
    ),
  })).filter(({ pages }) => pages.length > 0)
}
