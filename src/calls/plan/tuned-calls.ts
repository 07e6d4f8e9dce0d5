import { parseAlgorithm } from '../../collective/algorithm-text.js'
import type { Algorithm, CombinationOrder } from '../../collective/patterns/algorithm.js'
import { reasonText } from '../../errors.js'
import type { CommContext } from '../../messages/process/comm-context.js'
import type { Collective } from '../../schedule/specification.js'
import { leafConditions } from '../../tuning/leaf-conditions.js'
import { findLeaf, type PackedTree, packTree } from '../../tuning/packed-tree.js'
import { defaultAlgorithm, settingLine, type TuningSetting } from '../../tuning/setting.js'
import type { TuningCall } from '../../tuning/tuning-call.js'
import type { TuningFile } from '../../tuning/tuning-file.js'

/** A setting of a tuning file as calls use it. */
export type ReadySetting = ServableSetting | { readonly reason: string }

export interface ServableSetting {
  readonly algorithm: Algorithm
  readonly segmentBytes: number | undefined
  /** Why this version has no such algorithm. */
  readonly reason: null
}

/** The tree of one collective, for look-ups. */
interface Decisions {
  readonly packed: PackedTree
  readonly settings: readonly ReadySetting[]
  readonly leaves: readonly TunedLeaf[]
}

/** A leaf of a tuning file. */
export interface TunedLeaf {
  readonly setting: ReadySetting
  /** `bcast-chain:fanout=4,segment=8192` */
  readonly line: string
  /** Which calls it decides for, in words. */
  conditions(): string
}

/** Files that the processes of this thread use are made ready once. */
const ready = new WeakMap<TuningFile, ReadonlyMap<Collective, Decisions>>()

function readyDecisions(file: TuningFile): ReadonlyMap<Collective, Decisions> {
  const known = ready.get(file)
  if (known !== undefined) return known
  const decisions = new Map<Collective, Decisions>()
  for (const [collective, tree] of Object.entries(file.decisions)) {
    const packed = packTree(tree)
    const settings = tree.settings.map(readySetting)
    const lines = tree.settings.map(settingLine)
    let conditions: readonly string[] | undefined
    const leaves = Array.from(packed.leafSetting, (setting, leaf): TunedLeaf => {
      return {
        setting: settings[setting],
        line: lines[setting],
        conditions: () => {
          conditions ??= leafConditions(tree)
          return conditions[leaf]
        },
      }
    })
    decisions.set(collective as Collective, { packed, settings, leaves })
  }
  ready.set(file, decisions)
  return decisions
}

/** What a leaf says whose setting is `default`. */
export const leftToRule = 'the rule decides'

function readySetting(setting: TuningSetting): ReadySetting {
  if (setting.algorithm === defaultAlgorithm) return { reason: leftToRule }
  const { segment, ...parameters } = setting.parameters
  const isCut = segment !== undefined && segment > 0
  const line = settingLine({ ...setting, parameters: isCut ? { ...parameters, segment } : parameters })
  try {
    const { algorithm, segmentBytes } = parseAlgorithm(line, setting.collective)
    return { algorithm, segmentBytes, reason: null }
  } catch (error) {
    return { reason: `this version does not know it: ${reasonText(error)}` }
  }
}

/** The call of the last look-up. */
interface LookedUp {
  collective: Collective
  readonly nodes: number
  readonly processesPerNode: number
  bytes: number
  operation: string | undefined
  order: CombinationOrder | undefined
  readonly isMemoryShared: boolean
}

/**
 * The decisions of a tuning file for the calls of one communicator. They depend only on what all ranks of a
 * call know, so all choose alike.
 */
export class TunedCalls {
  readonly #decisions: ReadonlyMap<Collective, Decisions>
  readonly #processes: number
  readonly #call: LookedUp
  /** Why settings cannot serve, by leaf, for the segments that were asked for last. */
  readonly #refusals = new Map<TunedLeaf, { segments: number; refusal: string | null }>()

  constructor(file: TuningFile, { processes, runtime }: CommContext, isMemoryShared: boolean) {
    const { nodeOfProcess } = runtime.layout
    const nodes = new Set<number>()
    for (const process of processes.processes) nodes.add(nodeOfProcess[process])
    this.#decisions = readyDecisions(file)
    this.#processes = processes.count
    this.#call = {
      ...{ collective: 'barrier', nodes: nodes.size, bytes: 0, isMemoryShared },
      processesPerNode: Math.ceil(processes.count / nodes.size),
      ...{ operation: undefined, order: undefined },
    }
  }

  /**
   * The leaf that decides a call; undefined for a collective that the file has no tree of. Allocates nothing.
   *
   * @param bytes what MPI's count describes; infinite of long blocks whose lengths not all ranks know
   */
  leafOf(
    collective: Collective,
    bytes: number,
    operation?: string,
    order?: CombinationOrder,
  ): TunedLeaf | undefined {
    const decisions = this.#decisions.get(collective)
    if (decisions === undefined) return undefined
    const call = this.#call
    call.collective = collective
    call.bytes = bytes
    call.operation = operation
    call.order = order
    return decisions.leaves[findLeaf(decisions.packed, call as TuningCall, this.#processes)]
  }

  /** What `refuses` answers for the algorithm of a leaf; asked anew for other segments than the last time. */
  refusalOf(leaf: TunedLeaf, segments: number, refuses: () => string | null): string | null {
    const known = this.#refusals.get(leaf)
    if (known?.segments === segments) return known.refusal
    const refusal = refuses()
    this.#refusals.set(leaf, { segments, refusal })
    return refusal
  }

  /** The number of a bcast's algorithm in the file, by which the root names it to the others; -1: it is not there. */
  numberOf(algorithm: Algorithm): number {
    const settings = this.#decisions.get('bcast')?.settings ?? []
    return settings.findIndex((setting) => setting.reason === null && setting.algorithm === algorithm)
  }

  /** The inverse of {@link numberOf}. */
  algorithmOf(number: number): Algorithm {
    return (this.#decisions.get('bcast')!.settings[number] as ServableSetting).algorithm
  }
}
