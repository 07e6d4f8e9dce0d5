// Products of sparse matrices with dense ones: the strategy that `auto` finds, direct sends and an ordinary allgather, in turn.
import type { Communicator } from 'rankweave'
import { randomRows, readMatrixRows, spmm } from 'rankweave/spmm'

export interface SpmmCases {
  /** Matrix Market files by key. */
  readonly files: Readonly<Record<string, string>>
  /** Columns of B, all in one exchange. */
  readonly width: number
  readonly turns: number
}

/** Microseconds by key: of `auto`, and of the faster of direct sends and an ordinary allgather. */
export default async function main(world: Communicator, { files, width, turns }: SpmmCases) {
  const figures: Record<string, number | string> = {}
  for (const [key, file] of Object.entries(files)) {
    const a = await readMatrixRows(world, file)
    const b = randomRows(world, { rows: a.cols, cols: width, seed: 1 })
    const problem = { a, b, strategy: { kind: 'auto' }, columnsAtOnce: width, compare: true, turns } as const
    const { facts } = await spmm(world, problem)
    if (facts === null) continue
    const [auto, direct, allgather] = facts.times
    for (const { name, differing } of facts.times)
      if (differing > 0) throw new Error(`wrong result: ${key} by ${name}: ${differing} numbers differ`)
    figures[`${key} auto`] = auto!.seconds * 1e6
    figures[`${key} direct`] = direct!.seconds * 1e6
    figures[`${key} allgather`] = allgather!.seconds * 1e6
    figures[`${key} best`] = Math.min(direct!.seconds, allgather!.seconds) * 1e6
    console.error(`${world.size} ranks, ${key}: ${facts.exchange}`)
  }
  return figures
}
