import type { Communicator } from '../../comm/communicator.js'
import { type SpmmProblem, type SpmmShare, spmm } from '../../neighborhood/spmm/spmm.js'

/** The program of `rankweave spmm` in each thread of its world. */
export default function main(world: Communicator, problem: SpmmProblem): Promise<SpmmShare> {
  return spmm(world, problem)
}
