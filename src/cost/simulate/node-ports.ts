import type { FrameTable } from './frame-table.js'

/**
 * The ports of nodes. A frame on its way out of its node occupies a port from when it would come to the links until its
 * last byte is through. Frames that find no free port wait in a line of their node, and the first of it follows.
 * Memory: 4 bytes per frame, and 12 per node.
 */
export class NodePorts {
  readonly #from: Int32Array
  readonly #node: Int32Array
  /** The number of free ports of every node. */
  readonly #free: Int32Array
  /** The first and the last frame of the line of every node; -1 for an empty one. */
  readonly #first: Int32Array
  readonly #last: Int32Array
  /** The frame behind this one; -1 for the last. */
  readonly #next: Int32Array

  /**
   * @param node of every process
   * @param ports of each of `nodes` nodes
   */
  constructor({ from }: Pick<FrameTable, 'from'>, node: Int32Array, nodes: number, ports: number) {
    this.#from = from
    this.#node = node
    this.#free = new Int32Array(nodes).fill(ports)
    this.#first = new Int32Array(nodes).fill(-1)
    this.#last = new Int32Array(nodes).fill(-1)
    this.#next = new Int32Array(from.length).fill(-1)
  }

  /** Takes a port for a frame and returns true, or lets the frame wait and returns false. */
  take(frame: number): boolean {
    const node = this.#node[this.#from[frame]]
    if (this.#free[node] > 0) {
      this.#free[node]--
      return true
    }
    const last = this.#last[node]
    if (last === -1) this.#first[node] = frame
    else this.#next[last] = frame
    this.#last[node] = frame
    return false
  }

  /** Releases the port of a frame that is through. Returns the frame that has the port now, or -1. */
  release(frame: number): number {
    const node = this.#node[this.#from[frame]]
    const next = this.#first[node]
    if (next === -1) {
      this.#free[node]++
      return -1
    }
    this.#first[node] = this.#next[next]
    if (this.#first[node] === -1) this.#last[node] = -1
    return next
  }
}
