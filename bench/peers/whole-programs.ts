import type { Communicator } from 'rankweave'
import { type Program, timedLoops } from './program.js'
import { heat } from './programs/heat.js'
import { histogram } from './programs/histogram.js'
import { kMeans } from './programs/k-means.js'
import { mandelbrot } from './programs/mandelbrot.js'
import { pi } from './programs/pi.js'
import { answers, dividedTasks, handedOutTasks } from './programs/small-tasks.js'
import { sort } from './programs/sort.js'
import { sparseProduct } from './programs/sparse-product.js'

/** By the names that the bench prints. */
export const programs: Readonly<Record<string, Program>> = {
  pi,
  mandelbrot,
  heat,
  sort,
  histogram,
  sparseProduct,
  kMeans,
  answers,
  dividedTasks,
  handedOutTasks,
}

/** Times programs on ranks: milliseconds by name. */
export default async function main(world: Communicator, { names }: { readonly names: readonly string[] }) {
  const figures: Record<string, number> = {}
  for (const name of names) {
    const compute = await programs[name].onRanks(world)
    figures[name] = await timedLoops(programs[name], async () => {
      await world.barrier() // Every rank has finished the loop before, and its check.
      return compute()
    })
  }
  return figures
}
