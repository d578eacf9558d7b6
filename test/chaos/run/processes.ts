import { readdirSync, readFileSync } from 'node:fs'

/** A process and all below it, the topmost first; of a process that is gone, nothing. */
export function familyOf(pid: number): number[] {
  const children = new Map<number, number[]>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const parent = parentOf(Number(name))
    if (parent !== null) children.set(parent, [...(children.get(parent) ?? []), Number(name)])
  }
  const family = parentOf(pid) === null ? [] : [pid]
  for (const member of family) family.push(...(children.get(member) ?? []))
  return family
}

function parentOf(pid: number): number | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name in field 2 may hold spaces and brackets; field 4 is counted from behind it.
    return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    return null
  }
}

/** Sends a signal to a process and all below it; those that are gone are passed over. */
export function signalFamily(pid: number, signal: NodeJS.Signals): void {
  for (const member of familyOf(pid)) {
    try {
      process.kill(member, signal)
    } catch {
      // It has ended meanwhile.
    }
  }
}
