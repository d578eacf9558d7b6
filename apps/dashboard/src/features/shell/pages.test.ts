import { describe, expect, test } from 'vitest'
import { pageGroups } from './pages.ts'

const names = (roles: readonly string[] | null, paths: readonly string[] | null = null) =>
  pageGroups(roles, paths).flatMap(({ name, pages }) => [`${name}:`, ...pages.map((page) => page.name)])

describe('links to pages', () => {
  test('each is in one group', () => {
    const all = pageGroups(['administrator'], null).flatMap(({ pages }) => pages.map(({ path }) => path))
    expect(new Set(all).size).toBe(all.length)
    expect(all).toHaveLength(11)
  })

  test('of a page that is not there there is none, nor of a group without pages', () => {
    expect(names(['administrator'], ['/', '/dies', '/fora'])).toEqual(['watch:', 'fleet', 'analyse:', 'days'])
  })

  test('users are for administrators', () => {
    expect(names(['administrator'])).toContain('users')
    for (const roles of [null, [], ['dispatcher', 'analyst']]) expect(names(roles)).not.toContain('users')
  })
})
