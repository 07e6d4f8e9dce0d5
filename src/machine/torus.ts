import { requireKnownOptions } from '../base/known-options.js'
import { type OptionTable, uncheckedOptions } from '../base/option.js'
import { shown } from '../errors.js'
import { topologyLimits } from '../topology/limits.js'
import { type Grid, torusInterior } from './interior.js'
import { equalPackages, type TorusMachine } from './machine.js'
import { nodesOf, type PortOptions, portsField } from './nodes.js'
import { failMachine, type Profile } from './profile.js'

/** The most dimensions: enough for a hypercube of as many nodes as a machine may have. */
const mostDimensions = 24

/** The most links of a route; more would take longer to name than to pass. */
const longestRoute = 2 ** 16

interface TorusOptions extends PortOptions {
  readonly dims: readonly number[]
  /** Whether each dimension wraps. Default: every one does. */
  readonly wraps?: readonly boolean[]
  /** The number of cores of every node. */
  readonly cores?: number
  readonly packages?: number
  readonly profile?: Profile | null
}

const knownOptions: OptionTable<TorusOptions> = uncheckedOptions(
  'dims',
  'wraps',
  'cores',
  'packages',
  'profile',
  'ports',
)

/**
 * Returns a torus or, if no dimension wraps, a mesh: routers in a grid, one node of `cores` cores at each. Ranks fill
 * nodes in order, the first dimension fastest.
 *
 * @throws ERR_MACHINE beyond 24 dimensions, 2^24 cores and routes of 2^16 links; ERR_ARGUMENT unless `options` is an
 *   object
 */
export function torus(options: TorusOptions): TorusMachine {
  requireKnownOptions('torus', options, knownOptions)
  const { dims, cores = 1, packages = 1, profile = null } = options
  const wraps = options.wraps ?? Array.from(dims ?? [], () => true)
  const nodes = checkGrid({ dims, wraps })
  return {
    kind: 'torus',
    ...nodesOf([{ nodes, packages: equalPackages(cores, packages) }]),
    dims: [...dims],
    wraps: [...wraps],
    profile,
    ...portsField(options),
  }
}

/** Checks a grid and returns its number of nodes. @throws ERR_MACHINE */
export function checkGrid({ dims, wraps }: Grid): number {
  if (!Array.isArray(dims) || !Array.isArray(wraps))
    failMachine('expected the extents of a torus and which of them wrap, got none')
  if (dims.length < 1 || dims.length > mostDimensions)
    failMachine(`expected 1 to ${mostDimensions} dimensions, got ${dims.length}`)
  if (wraps.length !== dims.length)
    failMachine(`expected to know of ${dims.length} dimensions whether they wrap, got ${wraps.length}`)
  if (!wraps.every((wrap) => typeof wrap === 'boolean'))
    failMachine('expected true or false for every dimension: whether it wraps')
  let nodes = 1
  for (const [d, extent] of dims.entries()) {
    if (!Number.isInteger(extent) || extent < 1)
      failMachine(`dimension ${d}: expected at least 1 node, got ${shown(extent)}`)
    nodes *= extent
    if (nodes > topologyLimits.ranks)
      failMachine(`expected at most ${topologyLimits.ranks} nodes, got more up to dimension ${d}`)
  }
  const links = torusInterior({ dims, wraps }).longestPath + 2
  if (links > longestRoute) failMachine(`expected routes of at most ${longestRoute} links, got ${links}`)
  return nodes
}
