import { GrowingInt32Array } from '../../base/growing-array.js'
import { type FriendGroups, holdersOf } from '../friends/friend-groups.js'
import type { GroupingSettings } from '../friends/grouping-options.js'
import type { NeighborSets } from '../neighbors.js'
import type { FormedGroup } from './grouping-rounds.js'

export class GroupsBuilder {
  readonly #ranks: number
  readonly #settings: GroupingSettings
  readonly #step = new GrowingInt32Array()
  readonly #members = new GrowingInt32Array()
  readonly #commonStart = new GrowingInt32Array()
  readonly #common = new GrowingInt32Array()
  #steps = 0

  constructor(ranks: number, settings: GroupingSettings) {
    this.#ranks = ranks
    this.#settings = settings
  }

  /** Members and common neighbors ascend; groups need not. */
  addStep(groups: readonly FormedGroup[]): void {
    for (const { members, common } of [...groups].sort((a, b) => a.members[0] - b.members[0])) {
      this.#step.push(this.#steps)
      this.#members.append(members)
      this.#commonStart.push(this.#common.length)
      this.#common.append(common)
    }
    this.#steps++
  }

  /** @param direct the out-neighbors that no group serves */
  build(direct: NeighborSets): FriendGroups {
    const { k, theta, mode } = this.#settings
    this.#commonStart.push(this.#common.length)
    const commonStart = this.#commonStart.toArray()
    return {
      ranks: this.#ranks,
      k,
      theta,
      mode,
      steps: this.#steps,
      count: this.#step.length,
      step: this.#step.toArray(),
      members: this.#members.toArray(),
      commonStart,
      common: this.#common.toArray(),
      holder: holdersOf(commonStart, k),
      directStart: direct.start,
      direct: direct.rank,
    }
  }
}
