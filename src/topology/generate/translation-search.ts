import type { NeighborSets } from '../neighbors.js'

/** Tests grids against a topology, and counts its steps. */
export class TranslationSearch {
  workLeft: number
  readonly #out: NeighborSets
  readonly #ranks: number
  readonly #regular: boolean
  /** The rank that named each neighbor last. */
  readonly #namedBy: Int32Array

  constructor(out: NeighborSets, workLimit: number) {
    this.#out = out
    this.#ranks = out.start.length - 1
    this.workLeft = workLimit
    this.#namedBy = new Int32Array(this.#ranks).fill(-1)
    const degree = out.start[1]
    this.#regular = out.start.every((start, p) => start === p * degree)
  }

  /**
   * Returns the choices of dimensions that may wrap, those with most of them first. A dimension that wraps can also be
   * described without wrapping, by an offset n - 1 back for every offset 1 ahead. If all dimensions wrap, the topology
   * is regular.
   */
  possiblePeriods(dimensions: number): boolean[][] {
    const count = 1 << dimensions
    const choices = Array.from({ length: this.#regular ? count : count - 1 }, (_, mask) =>
      Array.from({ length: dimensions }, (_, d) => (mask & (1 << d)) !== 0),
    )
    const wrapping = (periods: readonly boolean[]) => periods.filter(Boolean).length
    return choices.sort((a, b) => wrapping(b) - wrapping(a))
  }

  /** Returns the offsets that are the same for every rank of the grid, or null if there are none. */
  offsetsOf(dims: readonly number[], periods: readonly boolean[]): number[][] | null {
    const offsets = this.#offsetsAtCorners(dims, periods)
    // The number of edges these offsets give: cheap to compute, and different for nearly every wrong grid.
    let edges = 0
    for (const offset of offsets)
      edges += offset.reduce(
        (product, step, d) => product * (periods[d] ? dims[d] : dims[d] - Math.abs(step)),
        1,
      )
    if (edges !== this.#out.rank.length) return null
    return this.#allHave(dims, periods, offsets) ? offsets : null
  }

  /**
   * Collects the offsets that lead from each corner. Those point inside, so the corners together have all. In
   * lexicographic order.
   */
  #offsetsAtCorners(dims: readonly number[], periods: readonly boolean[]): number[][] {
    const found = new Map<number, number[]>()
    const open = dims.flatMap((_, d) => (periods[d] ? [] : [d]))
    for (let corner = 0; corner < 1 << open.length; corner++) {
      const at = dims.map(() => 0)
      for (const [i, d] of open.entries()) if ((corner & (1 << i)) !== 0) at[d] = dims[d] - 1
      const p = at.reduce((rank, coord, d) => rank * dims[d] + coord, 0)
      for (let e = this.#out.start[p]; e < this.#out.start[p + 1]; e++) {
        this.workLeft -= 4 * dims.length
        let key = 0
        let rest = this.#out.rank[e]
        const offset = dims.map(() => 0)
        for (let d = dims.length - 1; d >= 0; d--) {
          const coord = rest % dims[d]
          rest = (rest - coord) / dims[d]
          const step = coord - at[d]
          offset[d] = periods[d] && 2 * step > dims[d] ? step - dims[d] : step
        }
        for (const [d, step] of offset.entries()) key = key * 2 * dims[d] + step + dims[d]
        found.set(key, offset)
      }
    }
    return [...found].sort(([a], [b]) => a - b).map(([, offset]) => offset)
  }

  /** Whether every rank's neighbors are exactly those that the offsets lead to. */
  #allHave(
    dims: readonly number[],
    periods: readonly boolean[],
    offsets: readonly (readonly number[])[],
  ): boolean {
    const { start, rank } = this.#out
    const steps = Int32Array.from(offsets.flat())
    const coords = dims.map(() => 0)
    this.#namedBy.fill(-1)
    for (let p = 0; p < this.#ranks; p++) {
      this.workLeft -= steps.length
      if (this.workLeft < 0) return false
      for (let e = start[p]; e < start[p + 1]; e++) this.#namedBy[rank[e]] = p
      let led = 0
      next: for (let o = 0; o < steps.length; o += dims.length) {
        let q = 0
        for (let d = 0; d < dims.length; d++) {
          let coord = coords[d] + steps[o + d]
          if (coord < 0 || coord >= dims[d]) {
            if (!periods[d]) continue next
            coord += coord < 0 ? dims[d] : -dims[d]
          }
          q = q * dims[d] + coord
        }
        if (this.#namedBy[q] !== p) return false
        led++
      }
      if (led !== start[p + 1] - start[p]) return false
      for (let d = dims.length - 1; d >= 0 && ++coords[d] === dims[d]; d--) coords[d] = 0
    }
    return true
  }
}
