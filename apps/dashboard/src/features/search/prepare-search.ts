import type { Van } from '../van/prepare-fleet.ts'

export const SEARCH_MAX_RESULTS = 8

/** Vans whose name, plate, depot or municipality fits every word; best first. Nothing for an empty query. */
export function searchVans(fleet: readonly Van[], query: string, limit = SEARCH_MAX_RESULTS): Van[] {
  const words = plain(query).split(' ').filter(Boolean)
  if (words.length === 0) return []
  const found = fleet.flatMap((van) => {
    const scores = words.map((word) => scoreOf(van, word))
    return scores.every((score) => score > 0) ? [{ van, score: scores.reduce((sum, score) => sum + score, 0) }] : []
  })
  // Equal scores keep the order of the fleet, which is by name.
  return found
    .sort((a, b) => b.score - a.score)
    .slice(0, limit)
    .map(({ van }) => van)
}

function scoreOf(van: Van, word: string): number {
  const names = [plain(van.name), plain(van.van)]
  if (names.some((name) => name === word || name.split(/[ -]/).includes(word))) return 100
  const plate = plain(van.plate ?? '').replace(/[ -]/g, '')
  if (plate !== '' && plate.startsWith(word.replace(/[ -]/g, ''))) return 60
  if (names.some((name) => name.startsWith(word) || name.split(/[ -]/).some((part) => part.startsWith(word)))) return 50
  if (names.some((name) => name.includes(word)) || plate.includes(word)) return 30
  if (plain(van.depotName ?? '').includes(word)) return 10
  return plain(van.place ?? '').includes(word) ? 5 : 0
}

/** Lower case without accents. */
function plain(text: string): string {
  return text
    .toLowerCase()
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .trim()
}
