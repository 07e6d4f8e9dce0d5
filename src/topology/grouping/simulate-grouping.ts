import { requireKnownOptions } from '../../base/known-options.js'
import {
  type GroupingOptions,
  groupingOptions,
  groupingSettings,
  ProgressMeter,
} from '../friends/grouping-options.js'
import { type ProcessTopology, requireTopology } from '../process-topology.js'
import { groupByMessages } from './group-by-messages.js'
import type { Grouping } from './grouping.js'

const { engine: _engine, ...knownOptions } = groupingOptions

/**
 * Simulates all ranks of the engine `distributed` in this process. Returns the groups of `groupFriends`, and the
 * messages and waves that finding them takes. It serves to study the protocol; `groupFriends` finds the same groups
 * sooner.
 *
 * @throws ERR_STRATEGY as `groupFriends`
 * @see Ghazimirsaeed 2019 §7.3.2
 */
export function simulateGrouping(
  topology: ProcessTopology,
  options: Omit<GroupingOptions, 'engine'>,
): Grouping {
  requireTopology(topology)
  requireKnownOptions('simulateGrouping', options, knownOptions)
  const { now = () => performance.now() } = options
  const begin = now()
  const settings = groupingSettings(topology.ranks, { ...options, engine: 'distributed' })
  return {
    ...groupByMessages(topology, settings, new ProgressMeter(options.onProgress)),
    timeMs: now() - begin,
  }
}
