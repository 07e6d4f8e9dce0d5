/** A mapping of ranks to vertices. */
export type Tiling =
  /** Vertex v stands for ranks `v * ranks` up to the next. */
  | { readonly kind: 'blocks'; readonly ranks: number }
  /**
   * A row-major grid of ranks is cut into tiles, themselves row-major; those at the end of a dimension may be smaller.
   */
  | { readonly kind: 'tiles'; readonly dims: readonly number[]; readonly tile: readonly number[] }

export function vertexOf(tiling: Tiling, rank: number): number {
  if (tiling.kind === 'blocks') return Math.floor(rank / tiling.ranks)
  const { dims, tile } = tiling
  let vertex = 0
  let rest = rank
  let scale = 1
  for (let d = dims.length - 1; d >= 0; d--) {
    vertex += Math.floor((rest % dims[d]) / tile[d]) * scale
    rest = Math.floor(rest / dims[d])
    scale *= Math.ceil(dims[d] / tile[d])
  }
  return vertex
}

/** Returns the point at which a rank of a grid is drawn. */
export function positionOf(grid: readonly number[], rank: number): readonly [x: number, y: number] {
  const extents = grid.filter((extent) => extent > 1)
  if (extents.length <= 1) {
    const ranks = extents[0] ?? 1
    const angle = (2 * Math.PI * rank) / ranks
    const radius = ranks / (2 * Math.PI)
    return [radius * Math.sin(angle), radius * Math.cos(angle)]
  }
  let rest = rank
  const at: number[] = []
  for (let d = extents.length - 1; d >= 0; d--) {
    at.unshift(rest % extents[d])
    rest = Math.floor(rest / extents[d])
  }
  const [column, row, ...outer] = at.toReversed()
  let [x, y] = [column, -row]
  // Each further dimension is drawn aslant; its steps are short if the planes before it are small.
  for (const [i, step] of outer.entries()) {
    const reach = extents[extents.length - 1] * (i === 0 ? 0.28 : 1.6)
    x += step * Math.max(0.35, reach / 2)
    y += step * Math.max(0.3, reach / 2.6)
  }
  return [x, y]
}
