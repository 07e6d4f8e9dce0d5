import type { Communicator } from '../../comm/communicator.js'
import type { SparseProduct } from './sparse-product.js'

/**
 * Seconds of a product between two barriers, those of the slowest rank: the same on all ranks. Collective.
 *
 * @param repeats products between the barriers
 */
export async function secondsOfTurn(
  world: Communicator,
  product: SparseProduct,
  b: Float64Array,
  into: Float64Array,
  repeats: number,
): Promise<number> {
  await world.barrier()
  const begin = performance.now()
  for (let repeat = 0; repeat < repeats; repeat++) await product.multiply(b, into)
  await world.barrier()
  return world.allreduce((performance.now() - begin) / 1000 / repeats, 'max')
}
