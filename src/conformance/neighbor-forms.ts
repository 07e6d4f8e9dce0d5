import type { Communicator } from '../handles/communicator.js'
import type { TopologyCommunicator } from '../handles/topology-communicator.js'
import type { TypedArray } from '../messages/datatype/elements.js'
import { concatenatedBlocks, elements, lengthOf } from './collective-oracles.js'
import type { FormCase, FormCases, NamesWithForms } from './forms.js'

/** The edges of one rank, by numbers that both ends know, in the order of its lists. */
export interface EdgesOfRank {
  readonly sent: readonly number[]
  readonly received: readonly number[]
}

/** Every neighborhood collective; one that is missing does not compile. */
type NeighborForms = Readonly<
  Record<Exclude<NamesWithForms<TopologyCommunicator>, NamesWithForms<Communicator>>, readonly FormCase[]>
>

const types = [BigInt64Array, Uint8Array, Float32Array] as const

/** Returns the elements that a rank passes, or that travel along an edge, in a round. */
type Passed = (from: number, round: number) => TypedArray

/**
 * Returns the cases of one rank of a graph on its own arrays.
 *
 * @param length elements of equal blocks; varying blocks have none, as many, or twice as many
 */
export function neighborForms(
  graph: TopologyCommunicator,
  { sent, received }: EdgesOfRank,
  slot: number,
  length: number,
): FormCases {
  const { rank } = graph
  const sources = [...graph.sources]
  const equal: Passed = (from, round) => elements(Float64Array, slot + round, from, 0, length)
  const varying: Passed = (from, round) => elements(Int16Array, slot + round, from, 1, lengthOf(from, length))
  const typed: Passed = (edge, round) => elements(types[edge % 3], slot + round, edge, 2, edge % 4)
  const reduced: Passed = (from, round) => elements(Int32Array, slot + round, from, 3, length)
  const joined = (passed: Passed, from: readonly number[], round: number) =>
    concatenatedBlocks(
      passed(from[0] ?? 0, 0).constructor as typeof Float64Array,
      from.map((each) => passed(each, round)),
    )
  const countsOf = (from: readonly number[]) => from.map((each) => lengthOf(each, length))
  const fills: ((round: number) => void)[] = []
  /** Returns an array that holds the elements to send in a round. */
  const sending = (passed: Passed, from: readonly number[]): TypedArray => {
    const array = joined(passed, from, 0)
    fills.push((round) => (array as Float64Array).set(joined(passed, from, round) as Float64Array))
    return array
  }
  /** Returns a case that fills an array with the received blocks. */
  const filling = (
    passed: Passed,
    from: readonly number[],
    call: readonly unknown[],
    counts?: readonly number[],
  ): FormCase => {
    const filled = joined(passed, from, 0)
    const form = {
      call,
      init: [...call, filled],
      filled,
      expected: (round: number) => joined(passed, from, round),
    }
    return counts === undefined ? form : { ...form, counts }
  }
  const typedData = sent.map((edge) => sending(typed, [edge]))
  const typedInto = received.map((edge) => typed(edge, 0))
  const terms = sending(reduced, [rank])
  const greatest = new Int32Array(length).fill(-1)
  const untouched = greatest.slice()
  const cases: NeighborForms = {
    neighborAllgather: [filling(equal, sources, [sending(equal, [rank])])],
    neighborAllgatherv: [filling(varying, sources, [sending(varying, [rank])], countsOf(sources))],
    neighborAlltoall: [filling(equal, received, [sending(equal, sent)])],
    neighborAlltoallv: [
      filling(varying, received, [sending(varying, sent), countsOf(sent)], countsOf(received)),
    ],
    neighborAlltoallw: [
      {
        call: [typedData],
        init: [typedData, typedInto],
        filled: typedInto,
        expected: (round) => received.map((edge) => typed(edge, round)),
      },
    ],
    neighborReduce: [
      {
        call: [terms, 'max'],
        init: [terms, greatest, 'max'],
        filled: greatest,
        ...(sources.length === 0
          ? { expected: () => null, holds: () => untouched }
          : {
              expected: (round) =>
                greatest.map((_, i) => greatestOf(sources, (src) => reduced(src, round)[i])),
            }),
      },
    ],
  }
  return {
    cases,
    fill(round) {
      for (const fill of fills) fill(round)
    },
  }
}

const greatestOf = (ranks: readonly number[], of: (rank: number) => number | bigint) =>
  ranks.map((rank) => Number(of(rank))).reduce((a, b) => Math.max(a, b))
