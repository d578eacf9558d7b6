import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** WCAG 2.2, levels A and AA. */
export const WCAG: readonly string[] = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']
/** The same, and what axe-core holds for good practice. */
export const WCAG_AND_PRACTICE: readonly string[] = [...WCAG, 'best-practice']

/** What axe-core finds on a page against its rules of these tags, a line a fault. */
export async function violations(page: Page, tags: readonly string[] = WCAG): Promise<string[]> {
  // Headers forbid scripts from elsewhere; the tool speaks to the page from outside.
  await page.evaluate(AXE)
  return page.evaluate(
    async (values) => {
      const { axe } = window as unknown as {
        axe: { run(options: object): Promise<{ violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[] }> }
      }
      const { violations: found } = await axe.run({ runOnly: { type: 'tag', values } })
      return found.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html.slice(0, 160)} ${node.failureSummary ?? ''}`))
    },
    [...tags],
  )
}
