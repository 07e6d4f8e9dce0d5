import { evaluate } from './evaluate.js'
import type { Formula, ModelledAlgorithm } from './modelled-algorithm.js'
import { movementFormulas } from './movement-formulas.js'
import { reductionFormulas } from './reduction-formulas.js'

// Algorithms that the tables have no row of: the sum of those they consist of, or as expensive as another.

const rows = new Map([...movementFormulas, ...reductionFormulas].map((row) => [row.id, row.time]))

/** The formula of a row of the tables. */
function of(id: string): Formula {
  const time = rows.get(id)!
  return (terms, sizes) => evaluate(time, terms, sizes)
}

const both =
  (first: Formula, second: Formula): Formula =>
  (terms, sizes) =>
    first(terms, sizes) + second(terms, sizes)

/** For one of P pieces of the vector. */
const ofPieces =
  (formula: Formula): Formula =>
  (terms, sizes) =>
    formula(terms, { ...sizes, m: sizes.q, ms: sizes.q, ns: 1 })

export const composedFormulas: readonly ModelledAlgorithm[] = [
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
