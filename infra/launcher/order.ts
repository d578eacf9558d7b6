/** What the order of start and stop needs to know of a part. */
export interface Ordered {
  readonly name: string
  readonly dependsOn: readonly string[]
  /** Parts with the same number stop together; the smallest first. */
  readonly stopStage: number
}

/**
 * Waves of parts: each wave depends on those before it only. Throws when a part depends on one that is not there, or on itself in the end.
 */
export function startWaves<Part extends Ordered>(parts: readonly Part[]): Part[][] {
  const names = new Set(parts.map((part) => part.name))
  for (const part of parts) {
    const unknown = part.dependsOn.find((name) => !names.has(name))
    if (unknown !== undefined) throw new Error(`part ${part.name} depends on ${unknown}, which is not there`)
  }
  const waves: Part[][] = []
  const started = new Set<string>()
  while (started.size < parts.length) {
    const wave = parts.filter((part) => !started.has(part.name) && part.dependsOn.every((name) => started.has(name)))
    if (wave.length === 0) throw new Error('parts depend on each other in a circle')
    for (const part of wave) started.add(part.name)
    waves.push(wave)
  }
  return waves
}

/** Groups of parts in the order in which they stop. */
export function stopStages<Part extends Ordered>(parts: readonly Part[]): Part[][] {
  const stages = [...new Set(parts.map((part) => part.stopStage))].sort((a, b) => a - b)
  return stages.map((stage) => parts.filter((part) => part.stopStage === stage))
}
