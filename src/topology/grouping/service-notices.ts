import { indexIn } from '../../base/search.js'
import { type RankNeighbors, type ServingGroup, violation } from './grouping-messages.js'

/**
 * Collects which sources send to a rank directly, and which groups serve it. Each source gives notice once, as its last
 * message.
 */
export class ServiceNotices {
  readonly #rank: number
  readonly #sources: Int32Array
  readonly #k: number
  readonly #hasGiven: Uint8Array
  readonly #direct: number[] = []
  readonly #served: { readonly step: number; readonly member: number; readonly holder: number }[] = []

  constructor({ rank, sources }: RankNeighbors, k: number) {
    this.#rank = rank
    this.#sources = sources
    this.#k = k
    this.#hasGiven = new Uint8Array(sources.length)
  }

  get areComplete(): boolean {
    return this.#direct.length + this.#served.length === this.#sources.length
  }

  /** The sources that send directly, ascending. */
  get directSources(): Int32Array {
    return Int32Array.from(this.#direct).sort()
  }

  hasNotice(source: number): boolean {
    const at = indexIn(this.#sources, source)
    return at >= 0 && this.#hasGiven[at] !== 0
  }

  /** @throws ERR_PLAN_MISMATCH for a second notice, and one from a rank that is not a source */
  direct(from: number): void {
    this.#notice(from)
    this.#direct.push(from)
  }

  /** @throws ERR_PLAN_MISMATCH as {@link direct}, and for an impossible holder or step */
  served(from: number, step: number, ranks: Int32Array): void {
    if (step < 0 || ranks.length !== 1 || indexIn(this.#sources, ranks[0]) < 0)
      throw violation(this.#rank, from, 'a group that cannot serve the rank')
    this.#notice(from)
    this.#served.push({ step, member: from, holder: ranks[0] })
  }

  #notice(from: number): void {
    const at = indexIn(this.#sources, from)
    if (at < 0) throw violation(this.#rank, from, 'the notice of a destination, expected of a source')
    if (this.#hasGiven[at] !== 0) throw violation(this.#rank, from, 'a second notice')
    this.#hasGiven[at] = 1
  }

  /**
   * Returns the groups that serve the rank, by step, then members. Members of one group name the same step and holder;
   * those of different groups do not.
   *
   * @throws ERR_PLAN_MISMATCH when members do not form whole groups with their holder
   */
  servingGroups(): ServingGroup[] {
    const k = this.#k
    const entries = this.#served.sort((a, b) => a.step - b.step || a.holder - b.holder || a.member - b.member)
    const groups: ServingGroup[] = []
    for (let i = 0; i < entries.length; i += k) {
      const { step, holder, member } = entries[i]
      const group = entries.slice(i, i + k)
      const isWhole =
        group.length === k && group.every((entry) => entry.step === step && entry.holder === holder)
      const members = Int32Array.from(group, (entry) => entry.member)
      if (!isWhole || !members.includes(holder))
        throw violation(this.#rank, member, `part of a group of ${k} that serves by rank ${holder}`)
      groups.push({ step, members, holder })
    }
    return groups.sort((a, b) => a.step - b.step || a.members[0] - b.members[0])
  }
}
