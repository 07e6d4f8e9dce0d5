import type { Communicator } from 'rankweave'
import haloExchange from '../../examples/halo-exchange.js'
import ring from '../../examples/ring.js'
import splitGrid from '../../examples/split-grid.js'
import spmm from '../../examples/spmm.js'

/** All examples on one world, one after the other. */
export default async function main(world: Communicator) {
  return {
    ...{ halo: await haloExchange(world), grid: await splitGrid(world) },
    ...{ product: await spmm(world), ring: await ring(world) },
  }
}
