import type { Command } from 'commander'
import { RankweaveError } from '../../errors.js'
import { hopsBetween } from '../../machine/hops.js'
import { type Machine, nodeOf } from '../../machine/machine.js'
import { profileOf } from '../../machine/network.js'
import { profileOrigin, profileRemark } from '../../machine/profile-remarks.js'
import { parseAuto } from '../../neighborhood/choose/auto.js'
import { mapBySimulatedTime } from '../../neighborhood/choose/map-by-simulated-time.js'
import { namedStrategy } from '../../neighborhood/choose/plan-request.js'
import { formatStrategy } from '../../neighborhood/strategies/strategy-text.js'
import { prepareEngine } from '../../topology/grouping/exact-round.js'
import { communityStart, mapFromCommunities } from '../../topology/mapping/community-start.js'
import type { RepeatedTopology } from '../../topology/mapping/joined-topology.js'
import type { Mapping } from '../../topology/mapping/map-topology.js'
import { type PlacementObjective, simulatedTime } from '../../topology/mapping/objectives.js'
import { refuseGiven } from '../input/options.js'
import { spelledBy } from '../input/strategy-options.js'
import type { MappedTimes } from '../output/mapping-report.js'

/** The words of a `rankweave map` command. */
export interface MapWords {
  readonly machine: Machine
  readonly objective: PlacementObjective
  readonly seed: number
  readonly strategy?: string | undefined
  readonly bytes?: number | undefined
}

/** A mapping, with its times if it was chosen by simulated times. */
export interface MadeMapping extends Mapping {
  readonly simulated?: MappedTimes
}

/**
 * Returns the mapper for graphs of one program. It checks the words before any graph is built.
 *
 * @param count of graphs
 * @throws ERR_USAGE for words that are missing, or would have no effect; ERR_MACHINE for times without a profile;
 *   ERR_STRATEGY
 */
export function mapperOf(
  command: Command,
  words: MapWords,
  count: number,
): (graphs: readonly RepeatedTopology[]) => Promise<MadeMapping> {
  const { machine, objective, seed } = words
  if (objective === simulatedTime) return mapperByTime(command, words, count)
  refuseGiven(command, ['strategy', 'bytes'], `is for --objective ${simulatedTime}`)
  return async (graphs) => {
    const nodeOfSlot = nodeOf(machine, graphs[0].topology.ranks)
    return mapFromCommunities(graphs, { nodeOfSlot, objective, distance: hopsBetween(machine), seed })
  }
}

function mapperByTime(
  command: Command,
  { machine, seed, strategy: text = 'auto', bytes }: MapWords,
  count: number,
): ReturnType<typeof mapperOf> {
  if (count > 1) throw usageError(`expected one topology, got ${count}`)
  if (bytes === undefined) throw usageError('expected --bytes, the length of a block')
  const profile = profileOf(machine)
  const auto = parseAuto(text)
  if (auto?.bytes !== undefined)
    throw usageError('expected the length of a block as --bytes, not in --strategy')
  const asked = auto ?? namedStrategy({ strategy: text, machine }, spelledBy(command))
  return async ([{ topology }]) => {
    if (asked.kind === 'common-neighbor') await prepareEngine(asked.engine)
    const communities = communityStart(topology, nodeOf(machine, topology.ranks))
    const starts = communities === null ? [] : [communities]
    const mapping = mapBySimulatedTime(topology, machine, { bytes, strategy: asked, seed, starts })
    const { timeUs, identityUs, strategy, identityStrategy, swaps } = mapping
    return {
      ...{ slotOf: mapping.slotOf, nodeOf: mapping.nodeOf, start: mapping.start },
      ...{ cost: timeUs, identityCost: identityUs },
      simulated: {
        origin: 'simulated',
        bytesPerBlock: bytes,
        before: { strategy: formatStrategy(identityStrategy), timeUs: identityUs },
        after: { strategy: formatStrategy(strategy), timeUs },
        swaps,
        profile: profileOrigin(profile),
        remark: profileRemark(machine),
      },
    }
  }
}

function usageError(message: string): RankweaveError {
  return new RankweaveError('ERR_USAGE', `--objective ${simulatedTime}: ${message}`)
}
