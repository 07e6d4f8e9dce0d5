import { shown } from '../../src/errors.js'
import type { ClusterMachine } from '../../src/machine/machine.js'
import { type NodeRun, nodesOf } from '../../src/machine/nodes.js'
import { failMachine, type Profile } from '../../src/machine/profile.js'
import { topologyLimits } from '../../src/topology/limits.js'

/** A cluster whose node i has `coresPerNode[i]` cores, at least one each. @throws ERR_MACHINE */
export function clusterOf(coresPerNode: ArrayLike<number>, profile: Profile | null = null): ClusterMachine {
  const nodes: unknown = Object(coresPerNode).length
  if (!Number.isInteger(nodes) || (nodes as number) > topologyLimits.ranks)
    failMachine(`expected the cores of at most ${topologyLimits.ranks} nodes, got ${shown(coresPerNode)}`)
  const runs: NodeRun[] = Array.from(coresPerNode, (cores) => ({ nodes: 1, packages: [cores] }))
  return { kind: 'cluster', ...nodesOf(runs), profile }
}
