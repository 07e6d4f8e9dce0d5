import { local, run, type TopologyCommunicator, together } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { mooreTopology } from '../../../src/topology/generate/stencil.js'
import { codeOf } from '../../support/on-ranks.js'

const never = (): never => {
  throw new Error('expected the hosted form to run')
}

const topology = mooreTopology({ dims: [3, 4], radius: 1, periodic: true })

/** What every rank of a periodic grid must get when rank r passes `r + round`. */
const expectedOf = ({ sources }: TopologyCommunicator, round: number) =>
  Int32Array.from(sources, (source) => source + round)

/** On a grid of 12 ranks, of which process 1 hosts none. */
const onGrid = <T>(hosted: (graphs: readonly TopologyCommunicator[]) => Promise<T>) =>
  run<T>(never, {
    ranks: 12,
    fabric: local({ ranksPerProcess: [5, 0, 6, 1], seed: 11 }),
    hosted: async (worlds) => {
      const graphs = await Promise.all(worlds.map((world) => world.createTopology(topology)))
      const result = await hosted(graphs)
      return worlds.map(() => result)
    },
  })

const allgather = <T extends Int32Array>(
  graphs: readonly TopologyCommunicator[],
  data: readonly T[],
  options?: readonly { readonly into: Int32Array }[],
) => together(graphs, (graph, k) => graph.neighborAllgather(data[k]!, options?.[k]))

describe('neighbor allgathers of all ranks of a process', () => {
  it('repeats a call with new data in the same arrays', async () => {
    await onGrid(async (graphs) => {
      const data = graphs.map(() => new Int32Array(1))
      const options = graphs.map(({ sources }) => ({ into: new Int32Array(sources.length) }))
      for (let round = 0; round < 5; round++) {
        for (const [i, { rank }] of graphs.entries()) data[i]![0] = rank + round
        const got = await allgather(graphs, data, options)
        for (const [i, graph] of graphs.entries()) {
          expect(got[i]).toBe(options[i]!.into)
          expect(got[i]).toEqual(expectedOf(graph, round))
        }
      }
    })
  })

  it('takes other arrays, fresh results, other orders of handles and calls of single ranks in between', async () => {
    await onGrid(async (graphs) => {
      const dataOf = (round: number) => graphs.map(({ rank }) => Int32Array.of(rank + round))
      const check = (got: readonly Int32Array[], round: number, of = graphs) => {
        for (const [i, graph] of of.entries()) expect(got[i]).toEqual(expectedOf(graph, round))
      }
      const data = dataOf(0)
      for (let round = 0; round < 2; round++) check(await allgather(graphs, data), 0)
      check(await allgather(graphs, dataOf(1)), 1)
      const reversed = graphs.toReversed()
      check(await allgather(reversed, data.toReversed()), 0, reversed)
      check(await Promise.all(graphs.map((graph, i) => graph.neighborAllgather(data[i]!))), 0)
      check(await allgather(graphs, data), 0)
    })
  })

  it('refuses unknown options and wrong data also where a call repeats', async () => {
    const codes = await onGrid(async (graphs) => {
      const data = graphs.map(({ rank }) => Int32Array.of(rank))
      for (let round = 0; round < 2; round++) await allgather(graphs, data)
      const unknown = await codeOf(
        together(graphs, (graph, k) => graph.neighborAllgather(data[k]!, { int: 1 } as never)),
      )
      const wrong = data.with(0, 'text' as never)
      const type = await codeOf(allgather(graphs, wrong))
      await allgather(graphs, data)
      return [unknown, type]
    })
    expect(codes[0]).toEqual(['ERR_ARGUMENT', 'ERR_TYPE'])
  })
})
