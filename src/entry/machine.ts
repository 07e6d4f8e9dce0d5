/**
 * `rankweave/machine`: where ranks live and what messages between them cost. It has clusters, tori and Clos networks,
 * read from text, code or descriptions of hosts, and their profiles. It knows no communicator.
 *
 * @module rankweave/machine
 */
export { builtInProfiles } from '../machine/built-in-profiles.js'
export { checkMachine } from '../machine/check-machine.js'
export { clos } from '../machine/clos.js'
export { type HostMachine, machineFromHostList } from '../machine/host-list.js'
export { type HwlocOptions, machineFromHwloc } from '../machine/hwloc.js'
export {
  type ClosMachine,
  type ClusterMachine,
  cluster,
  type Machine,
  nodeOf,
  type TorusMachine,
} from '../machine/machine.js'
export { formatMachine, type MachineTextOptions, parseMachine } from '../machine/machine-text.js'
export { hopsBetween, linkName, type Network, networkOf, routeBetween } from '../machine/network.js'
export type { Nodes } from '../machine/nodes.js'
export {
  figuresOf,
  type HopCosts,
  type Level,
  type MemoryCosts,
  type MessageCosts,
  type Origin,
  type Profile,
  type ProfileFigure as Figure,
  type Provenance,
} from '../machine/profile.js'
export { formatProfile, parseProfile } from '../machine/profile-file.js'
export { machineFromSlurm, type SlurmEnvironment, type SlurmOptions } from '../machine/slurm.js'
export { torus } from '../machine/torus.js'
