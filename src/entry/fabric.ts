/**
 * `rankweave/fabric`: the contract of a fabric, which carries frames between processes, for programs that implement or
 * drive one.
 *
 * @module rankweave/fabric
 */
export {
  type Authority,
  type BulkTransfer,
  type Decision,
  type Fabric,
  type FabricCounters,
  type FabricFactory,
  type FabricKind,
  type FabricSession,
  type FrameSink,
  fabricLimits,
  type MemoryLocation,
  type MemorySharing,
} from '../fabric/fabric.js'
export type { LocalSession } from '../fabric/local/local.js'
export type { MpiSession } from '../fabric/mpi/mpi.js'
