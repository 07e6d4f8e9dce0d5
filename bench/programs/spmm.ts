// Products of sparse matrices with dense ones: the strategy that `auto` finds, direct sends and an ordinary
// allgather, in turn.
import type { Communicator } from 'rankweave'
import { type ProductTime, randomRows, readMatrixRows, spmm } from 'rankweave/spmm'

export interface SpmmCases {
  /** Matrix Market files by key. */
  readonly files: Readonly<Record<string, string>>
  /** Columns of B, all in one exchange. */
  readonly width: number
  readonly turns: number
}

/**
 * By matrix: microseconds of `auto`, of direct sends and of an ordinary allgather; what `auto` takes for a
 * microsecond of each of these in every turn; and a key that ends in what `auto` chose.
 */
export default async function main(world: Communicator, { files, width, turns }: SpmmCases) {
  const figures: Record<string, number> = {}
  for (const [key, file] of Object.entries(files)) {
    const a = await readMatrixRows(world, file)
    const b = randomRows(world, { rows: a.cols, cols: width, seed: 1 })
    const problem = { a, b, strategy: { kind: 'auto' }, columnsAtOnce: width, compare: true, turns } as const
    const { facts } = await spmm(world, problem)
    if (facts === null) continue
    for (const { name, differing } of facts.times)
      if (differing > 0) throw new Error(`wrong result: ${key} by ${name}: ${differing} numbers differ`)
    const [auto, direct, allgather] = facts.times as readonly [ProductTime, ProductTime, ProductTime]
    figures[`${key} auto`] = auto.seconds * 1e6
    figures[`${key} direct`] = direct.seconds * 1e6
    figures[`${key} allgather`] = allgather.seconds * 1e6
    for (const [turn, seconds] of auto.turnSeconds.entries()) {
      figures[`${key} over direct ${turn}`] = seconds / direct.turnSeconds[turn]
      figures[`${key} over allgather ${turn}`] = seconds / allgather.turnSeconds[turn]
    }
    figures[`${key} by ${facts.exchange}`] = 1
  }
  return figures
}
