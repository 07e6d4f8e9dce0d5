import type { Network } from '../../machine/network.js'
import { type Costs, networkLevel, type ProcessPlaces } from './costs.js'
import type { FrameTable } from './frame-table.js'

/** The links that frames pass when they leave their node. */
export class FramePaths {
  readonly network: Network
  /** The links `link[start]` to `link[start + length - 1]` in order, `start` and `length` by frame. */
  readonly link: Int32Array
  readonly start: Int32Array
  /** The number of links of a frame; 0 if it stays on its node. */
  readonly length: Int32Array
  readonly #costs: Costs

  constructor(network: Network, { from, to }: FrameTable, costs: Costs, { node }: ProcessPlaces) {
    this.network = network
    this.#costs = costs
    this.start = new Int32Array(from.length)
    this.length = new Int32Array(from.length)
    /** An earlier frame between the same nodes, by these. */
    const known = new Map<number, number>()
    const into = new Int32Array(network.longestRoute)
    let link = new Int32Array(1024)
    let used = 0
    for (let frame = 0; frame < from.length; frame++) {
      if (costs.level[frame] !== networkLevel) continue
      const [fromNode, toNode] = [node[from[frame]], node[to[frame]]]
      const pair = fromNode * network.nodes + toNode
      const same = known.get(pair)
      if (same !== undefined) {
        this.start[frame] = this.start[same]
        this.length[frame] = this.length[same]
        continue
      }
      known.set(pair, frame)
      const links = network.route(fromNode, toNode, into)
      if (used + links > link.length) {
        const longer = new Int32Array(2 * (used + links))
        longer.set(link)
        link = longer
      }
      for (let i = 0; i < links; i++) link[used + i] = into[i]
      this.start[frame] = used
      this.length[frame] = links
      used += links
    }
    this.link = link
  }

  /** Returns the time from the departure of the first byte to its arrival, without contention. */
  latencyNs(frame: number): number {
    const { level, messages } = this.#costs
    if (this.length[frame] === 0) return messages[level[frame]].latencyNs
    let sum = 0
    for (let i = this.start[frame]; i < this.start[frame] + this.length[frame]; i++)
      sum += this.network.latencyNs[this.link[i]]
    return sum
  }

  /** Returns the time from the departure of the first byte to the arrival of the last, without contention. */
  unloadedNs(frame: number): number {
    const { level, messages, wireBytes } = this.#costs
    let nsPerByte = 0
    if (this.length[frame] === 0) nsPerByte = messages[level[frame]].nsPerByte
    for (let i = this.start[frame]; i < this.start[frame] + this.length[frame]; i++)
      nsPerByte = Math.max(nsPerByte, this.network.nsPerByte[this.link[i]])
    return this.latencyNs(frame) + wireBytes[frame] * nsPerByte
  }
}
