import { requireKnownOptions } from '../base/known-options.js'
import { type OptionTable, uncheckedOptions } from '../base/option.js'
import { shown } from '../errors.js'
import { topologyLimits } from '../topology/limits.js'
import { mostNodesOf, type Tree } from './interior.js'
import { type ClosMachine, equalPackages } from './machine.js'
import { nodesOf, type PortOptions, portsField } from './nodes.js'
import { failMachine, type Profile } from './profile.js'

const mostPorts = 2 ** 16
const mostLevels = 16

interface ClosOptions extends PortOptions {
  /** The number of ports of every switch. */
  readonly radix: number
  /** The number of levels of switches. */
  readonly levels: number
  /** The number of ports of a leaf switch that lead to nodes. Default: half of them, so that nothing is tapered. */
  readonly nodesPerLeaf?: number
  /** The number of nodes. Default: as many as the tree has room for. */
  readonly nodes?: number
  /** The number of cores of every node. */
  readonly cores?: number
  readonly packages?: number
  readonly profile?: Profile | null
}

const knownOptions: OptionTable<ClosOptions> = uncheckedOptions(
  'radix',
  'levels',
  'nodesPerLeaf',
  'nodes',
  'cores',
  'packages',
  'profile',
  'ports',
)

/**
 * Returns a Clos network (fat tree) of equal switches in levels, and nodes of `cores` cores below it. Nodes fill leaf
 * switches in order.
 *
 * @throws ERR_MACHINE for a tree that cannot be built, for more nodes than it has room for, and beyond 2^24 cores;
 *   ERR_ARGUMENT unless `options` is an object
 */
export function clos(options: ClosOptions): ClosMachine {
  requireKnownOptions('clos', options, knownOptions)
  const { radix, levels, cores = 1, packages = 1, profile = null } = options
  checkSwitches(radix, levels)
  const tree = { radix, levels, nodesPerLeaf: options.nodesPerLeaf ?? (levels === 1 ? radix : radix / 2) }
  checkTree(tree)
  const count = options.nodes ?? mostNodesOf(tree)
  checkRoom(tree, count)
  return {
    kind: 'clos',
    ...nodesOf([{ nodes: count, packages: equalPackages(cores, packages) }]),
    ...tree,
    profile,
    ...portsField(options),
  }
}

/** @throws ERR_MACHINE */
export function checkTree({ radix, levels, nodesPerLeaf }: Tree): void {
  checkSwitches(radix, levels)
  if (levels === 1 && nodesPerLeaf !== radix)
    failMachine(
      `expected ${radix} nodes per leaf switch where there is one level, got ${shown(nodesPerLeaf)}`,
    )
  if (!Number.isInteger(nodesPerLeaf) || nodesPerLeaf < 1 || (levels > 1 && nodesPerLeaf >= radix))
    failMachine(
      `expected 1 to ${radix - 1} nodes per leaf switch of ${radix} ports, got ${shown(nodesPerLeaf)}`,
    )
}

function checkSwitches(radix: number, levels: number): void {
  if (!Number.isInteger(radix) || radix < 2 || radix > mostPorts)
    failMachine(`expected a radix from 2 to ${mostPorts}, got ${shown(radix)}`)
  if (!Number.isInteger(levels) || levels < 1 || levels > mostLevels)
    failMachine(`expected 1 to ${mostLevels} levels, got ${shown(levels)}`)
  if (levels > 2 && radix % 2 !== 0)
    failMachine(`expected an even radix for ${levels} levels, half down and half up, got ${radix}`)
}

/** @throws ERR_MACHINE for more nodes than a tree has room for */
export function checkRoom(tree: Tree, nodes: number): void {
  const most = mostNodesOf(tree)
  if (!Number.isInteger(nodes)) failMachine(`expected a number of nodes, got ${shown(nodes)}`)
  if (nodes > most) failMachine(`expected at most ${most} nodes below this tree, got ${nodes}`)
  if (nodes > topologyLimits.ranks)
    failMachine(`expected at most ${topologyLimits.ranks} nodes, got ${nodes}`)
}
