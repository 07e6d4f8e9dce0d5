/**
 * `rankweave/fabric`: what carries frames between processes, for those who write a fabric or drive one by
 * themselves.
 *
 * @module rankweave/fabric
 */
export { type Authority, type Decision, maxContributionBytes, maxKeyLength } from '../fabric/authority.js'
export {
  type BulkTransfer,
  type Fabric,
  type FabricCounters,
  type FabricFactory,
  type FabricKind,
  type FabricSession,
  type FrameSink,
  type MemoryLocation,
  type MemorySharing,
  maxHeaderWords,
} from '../fabric/fabric.js'
export { LocalSession } from '../fabric/local/local.js'
export { MpiSession } from '../fabric/mpi/mpi.js'
