import { wrongValue } from '../../errors.js'
import { ceilLg, evaluate, type Formula, isPowerOfTwo, type ModeledAlgorithm, sum } from './formulas.js'
import { movementFormulas } from './movement-formulas.js'
import { reductionFormulas } from './reduction-formulas.js'

// Formulas for algorithms without a row in the tables: each is composed of others, or equal to another.

const composedRows = new Map([...movementFormulas, ...reductionFormulas].map((row) => [row.id, row.time]))

/** Returns the formula of a row of the tables. */
function of(id: string): Formula {
  const time = composedRows.get(id)!
  return (terms, sizes) => evaluate(time, terms, sizes)
}

const both =
  (first: Formula, second: Formula): Formula =>
  (terms, sizes) =>
    first(terms, sizes) + second(terms, sizes)

/** Applies a formula to one of P pieces of the vector. */
const ofPieces =
  (formula: Formula): Formula =>
  (terms, sizes) =>
    formula(terms, { ...sizes, m: sizes.q, ms: sizes.q, ns: 1 })

/** Applies a formula to one vector of P times the length. */
const ofAllBlocks =
  (formula: Formula): Formula =>
  (terms, sizes) =>
    formula(terms, { ...sizes, m: sizes.P * sizes.m, ms: sizes.P * sizes.m, ns: 1 })

const ofNothing =
  (formula: Formula): Formula =>
  (terms, sizes) =>
    formula(terms, { ...sizes, m: 0, ms: 0, ns: 1 })

const combiningOthers: Formula = ({ gamma }, { P, m }) => (P - 1) * gamma * m

const onlyTwo = (ranks: number): string | null => (ranks === 2 ? null : `it needs 2 ranks, got ${ranks}`)

const exchange: Formula = ({ step }, { m }) => step(m)

/** The default of `bcast-knomial`. */
const radix = 4

/** The time down a k-nomial tree. A rank sends to k - 1 ranks at each level; the root's first level may have fewer. */
const downKnomialTree: Formula = ({ message, gap }, { P, ms, ns }) => {
  let [levels, widest] = [0, 1]
  while (widest < P) [levels, widest] = [levels + 1, widest * radix]
  const ofRoot = Math.ceil(P / (widest / radix)) - 1
  const children = ofRoot + (levels - 1) * (radix - 1)
  return levels * message(ms) + (ns * children - levels) * gap(ms)
}

/**
 * The time of doubling what ranks have, step by step. Where the upper group of a step has fewer ranks than the lower
 * one, some ranks there get its pieces by halving. They need as many steps as came before.
 */
const doublingUnfolded: Formula = ({ step }, { P, m }) =>
  sum(0, ceilLg(P) - 1, (k) => {
    const upper = isPowerOfTwo(P) ? 0 : (P % 2 ** (k + 1)) - 2 ** k
    return step(2 ** k * m) + (upper > 0 ? k * step(upper * m) : 0)
  })

const composedFormulas: readonly ModeledAlgorithm[] = [
  {
    id: 'barrier-tree',
    collective: 'barrier',
    source: 'reduce-tree and bcast-binomial of no data',
    time: ofNothing(both(of('reduce-tree'), of('bcast-binomial'))),
  },
  {
    id: 'bcast-knomial',
    collective: 'bcast',
    source: 'as bcast-binomial, with radix 4',
    segmented: true,
    time: downKnomialTree,
  },
  {
    id: 'bcast-scatter-doubling',
    collective: 'bcast',
    source: 'scatter-binomial and doubling of P pieces',
    time: ofPieces(both(of('scatter-binomial'), doublingUnfolded)),
  },
  {
    id: 'bcast-scatter-allgather',
    collective: 'bcast',
    source: 'scatter-binomial and allgather-ring of P pieces',
    time: ofPieces(both(of('scatter-binomial'), of('allgather-ring'))),
  },
  {
    id: 'allreduce-linear',
    collective: 'allreduce',
    source: 'reduce-linear and bcast-linear',
    segmented: true,
    time: both(of('reduce-linear'), of('bcast-linear')),
  },
  {
    id: 'allreduce-tree',
    collective: 'allreduce',
    source: 'reduce-tree and bcast-binomial',
    segmented: true,
    time: both(of('reduce-tree'), of('bcast-binomial')),
  },
  {
    id: 'allreduce-binary',
    collective: 'allreduce',
    source: 'reduce-binary and bcast-binary',
    segmented: true,
    time: both(of('reduce-binary'), of('bcast-binary')),
  },
  {
    id: 'allreduce-segmented',
    collective: 'allreduce',
    source: 'alltoall-linear of P pieces twice, and combining a piece of each rank',
    time: ofPieces(both(combiningOthers, both(of('alltoall-linear'), of('alltoall-linear')))),
  },
  {
    id: 'reduce-in-order-binary',
    collective: 'reduce',
    source: 'as reduce-binary',
    segmented: true,
    time: of('reduce-binary'),
  },
  {
    id: 'allgather-binomial',
    collective: 'allgather',
    source: 'gather-binomial and bcast-binomial of all blocks',
    time: both(of('gather-binomial'), ofAllBlocks(of('bcast-binomial'))),
  },
  {
    id: 'allgather-two-proc',
    collective: 'allgather',
    source: 'as allgather-recursive-doubling on 2 ranks',
    refuses: onlyTwo,
    time: exchange,
  },
  {
    id: 'alltoall-two-proc',
    collective: 'alltoall',
    source: 'as allgather-recursive-doubling on 2 ranks',
    refuses: onlyTwo,
    time: exchange,
  },
  {
    id: 'reduce-scatter-binomial',
    collective: 'reduce-scatter',
    source: 'reduce-tree of all blocks and scatter-binomial',
    time: both(ofAllBlocks(of('reduce-tree')), of('scatter-binomial')),
  },
  {
    id: 'reduce-scatter-tree',
    collective: 'reduce-scatter',
    source: 'alltoall-linear, and combining a block of each rank',
    time: both(combiningOthers, of('alltoall-linear')),
  },
  {
    id: 'allgather-linear',
    collective: 'allgather',
    source: 'as alltoall-linear',
    time: of('alltoall-linear'),
  },
  {
    id: 'reduce-scatter-pairwise',
    collective: 'reduce-scatter',
    source: 'as reduce-scatter-ring, without its copy',
    time: ({ message, gamma }, { P, m }) => (P - 1) * (message(m) + gamma * m),
  },
  {
    id: 'exscan-chain',
    collective: 'exscan',
    source: 'as scan-chain',
    segmented: true,
    time: of('scan-chain'),
  },
  {
    id: 'exscan-recursive-doubling',
    collective: 'exscan',
    source: 'as scan-recursive-doubling',
    time: of('scan-recursive-doubling'),
  },
]

const rows = [...movementFormulas, ...reductionFormulas, ...composedFormulas]
const byId: ReadonlyMap<string, ModeledAlgorithm> = new Map(rows.map((row) => [row.id, row]))

/** All algorithms with a formula, by collective. */
export const modeledAlgorithms: readonly ModeledAlgorithm[] = [
  ...new Set(rows.map(({ collective }) => collective)),
].flatMap((collective) => rows.filter((row) => row.collective === collective))

/**
 * Returns the row of an id, which is without settings: formulas are for the defaults of parameters, and calls give the
 * length of segments.
 *
 * @throws ERR_ARGUMENT naming the known ids, or reporting that these settings have no formula
 */
export function modeledAlgorithmOf(id: string): ModeledAlgorithm {
  const row = byId.get(id)
  if (row !== undefined) return row
  const family = typeof id === 'string' ? id.split(':', 1)[0]! : ''
  if (byId.has(family)) {
    const expected = `expected ${family} without settings: its formula is for the defaults of its parameters`
    throw wrongValue('ERR_ARGUMENT', expected, id)
  }
  const expected = `expected an algorithm with a formula among ${[...byId.keys()].join(', ')}`
  throw wrongValue('ERR_ARGUMENT', expected, id)
}
