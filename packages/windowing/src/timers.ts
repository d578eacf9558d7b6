/**
 * Owners by the instant at which they want to be looked at: a binary heap. A timer may be early, never late: who is woken before anything is
 * due sets the next one. So a due instant that moves on, as a session's does with each point, costs nothing.
 */
export class TimerQueue<Owner> {
  private readonly atMs: number[] = []
  private readonly owners: Owner[] = []

  /** The earliest timer, Infinity when there is none. */
  get nextMs(): number {
    return this.atMs.length === 0 ? Number.POSITIVE_INFINITY : this.atMs[0]!
  }

  /** Whether there is a timer at or before `markMs`. */
  isDue(markMs: number): boolean {
    return this.atMs.length > 0 && this.atMs[0]! <= markMs
  }

  schedule(atMs: number, owner: Owner): void {
    let hole = this.atMs.length
    this.atMs.push(atMs)
    this.owners.push(owner)
    while (hole > 0) {
      const parent = (hole - 1) >> 1
      if (this.atMs[parent]! <= atMs) break
      this.move(parent, hole)
      hole = parent
    }
    this.atMs[hole] = atMs
    this.owners[hole] = owner
  }

  /** Takes the owner of the earliest timer out. Throws when there is none. */
  pop(): Owner {
    const owner = this.owners[0]
    const atMs = this.atMs.pop()
    const last = this.owners.pop()
    if (atMs === undefined) throw new Error('no timer is set')
    if (this.atMs.length > 0) this.sink(atMs, last as Owner)
    return owner as Owner
  }

  private sink(atMs: number, owner: Owner): void {
    const size = this.atMs.length
    let hole = 0
    for (let child = 1; child < size; child = 2 * hole + 1) {
      if (child + 1 < size && this.atMs[child + 1]! < this.atMs[child]!) child += 1
      if (this.atMs[child]! >= atMs) break
      this.move(child, hole)
      hole = child
    }
    this.atMs[hole] = atMs
    this.owners[hole] = owner
  }

  private move(from: number, to: number): void {
    this.atMs[to] = this.atMs[from]!
    this.owners[to] = this.owners[from]!
  }
}
