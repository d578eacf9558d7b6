/** Work that is asked for again while it is under way is done once. */
export class OnePerKey<Result> {
  readonly #underWay = new Map<string, Promise<Result>>()

  of(key: string, work: () => Promise<Result>): Promise<Result> {
    const known = this.#underWay.get(key)
    if (known !== undefined) return known
    const begun = work().finally(() => this.#underWay.delete(key))
    this.#underWay.set(key, begun)
    return begun
  }
}
