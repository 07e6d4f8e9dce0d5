import { requireWaitOptions, type WaitOptions, waitOptions } from '../base/abort.js'
import { type OptionTable, uncheckedOptions } from '../base/option.js'
import { gatherBytes } from '../calls/exchange/exchange.js'
import type { CollectiveCall } from '../calls/matching/collective-call.js'
import type { CommSeat } from '../comm/comm-state.js'
import { wrongValue } from '../errors.js'
import { type FormatOptions, formatSchedule, rankLine } from '../schedule/file/format-schedule.js'
import { currentVersion, headerOf, requireVersion } from '../schedule/file/header.js'
import type { ProcessTopology } from '../topology/process-topology.js'
import type { Neighborhood } from './plan/neighborhood.js'

export interface PlanLinesOptions extends WaitOptions, FormatOptions {}

const planLinesOptions: OptionTable<PlanLinesOptions> = { ...waitOptions, ...uncheckedOptions('version') }

/**
 * Returns the lines of a plan's schedule file on the root, null on the others, whether one process planned or all did.
 */
export function planLines(
  { state, localIndex }: CommSeat,
  neighborhood: Neighborhood,
  root: number,
  options?: PlanLinesOptions,
): Promise<string[] | null> {
  const { size } = state
  requireWaitOptions('planLines', options, planLinesOptions)
  const version = options?.version ?? currentVersion
  requireVersion(version)
  if (!Number.isInteger(root) || root < 0 || root >= size)
    throw wrongValue('ERR_RANK', `planLines: expected a root from 0 to ${size - 1}`, root)
  const call: CollectiveCall<null, string[] | null> = {
    signature: { name: 'planLines', root, extra: version },
    unplaced: neighborhood.isLocated,
    run: async (hosted, exchange) => {
      const { schedule, ranks } = neighborhood.forBlocks(null).plan
      const { localRanks } = state
      const isRootHere = localRanks.includes(root)
      let lines: string[] | null = null
      if (ranks === undefined) {
        if (isRootHere)
          lines = [...formatSchedule(schedule, options?.version === undefined ? {} : { version })]
      } else {
        const own = Array.from(ranks, (rank) => rankLine(schedule, rank, version)).join('\n')
        const rootProcess = await state.processOfRank(root)
        const parts = await gatherBytes(exchange, rootProcess, new TextEncoder().encode(own))
        if (parts !== null) {
          const ofRanks = linesOf(parts)
          const topology = topologyOf(ofRanks)
          lines = [JSON.stringify(headerOf({ ...schedule, topology }, version)), ...ofRanks]
        }
      }
      return hosted.map((_, i) => (localRanks[i] === root ? lines : null))
    },
  }
  return state.collectives.call(localIndex, call, null, options)
}

function linesOf(parts: readonly Uint8Array[]): string[] {
  const lines: string[] = []
  for (const part of parts) {
    for (const line of new TextDecoder().decode(part).split('\n')) {
      if (line !== '') lines[Number(/\d+/.exec(line)![0])] = line
    }
  }
  return lines
}

/** Rebuilds the topology for the header of a schedule file. */
function topologyOf(lines: readonly string[]): ProcessTopology {
  const parsed = lines.map((line) => JSON.parse(line) as { readonly out: number[]; readonly in: number[] })
  const start = (side: 'out' | 'in') => {
    const starts = new Int32Array(parsed.length + 1)
    for (const [rank, lists] of parsed.entries()) starts[rank + 1] = starts[rank] + lists[side].length
    return starts
  }
  return {
    ranks: parsed.length,
    outStart: start('out'),
    outRank: Int32Array.from(parsed.flatMap((lists) => lists.out)),
    outWeight: null,
    inStart: start('in'),
    inRank: Int32Array.from(parsed.flatMap((lists) => lists.in)),
    inWeight: null,
    pairing: 'occurrence',
    cart: null,
  }
}
