import type { Bench, BenchOptions, Figure } from '../bench.js'
import { compareCells } from './cells.js'
import { measuredOrder } from './measured-order.js'
import { messagesAndPlanning } from './planning.js'
import { regrets } from './regret.js'

/** Strategies of neighbor allgathers against the best that others found, and against each other. */
export const neighborhoodBench: Bench = {
  name: 'neighborhood',
  question: 'How good is the strategy chosen for a neighbor allgather, and what does planning it cost?',
  async *measure(options = {}) {
    // `--only cells/er:256` is the suite and what its cases begin with.
    const [suite, ...rest] = (options.only ?? '').split('/')
    const { only: _only, ...others } = options
    for (const [name, measure] of Object.entries(suites)) {
      if (name.startsWith(suite)) yield* measure({ ...others, only: rest.join('/') })
    }
  },
}

const suites: Readonly<Record<string, (options: BenchOptions) => Iterable<Figure> | AsyncIterable<Figure>>> =
  {
    cells: compareCells,
    regret: regrets,
    planning: messagesAndPlanning,
    order: measuredOrder,
  }
