import { largestOf } from '../../base/search.js'
import { parseAlgorithm, segmentsOfParts } from '../../collective/algorithm-text.js'
import type { Algorithm, CombinationOrder } from '../../collective/patterns/algorithm.js'
import { reasonText } from '../../errors.js'
import type { CommContext } from '../../messages/process/comm-context.js'
import type { Collective } from '../../schedule/specification.js'
import { findLeaf, leafConditions, type PackedTree, packTree } from '../../tuning/models/decision-tree.js'
import { type TuningFile, treeOfDecisions } from '../../tuning/models/tuning-file.js'
import { defaultAlgorithm, settingLine, type TuningSetting } from '../../tuning/settings/setting.js'
import { defaultSegments } from './default-rule.js'

type ReadySetting = ServableSetting | { readonly reason: string }

export interface ServableSetting {
  readonly algorithm: Algorithm
  readonly segmentBytes: number | undefined
  /** Whether it cuts long data also if nothing gives a number of segments. */
  readonly cutsByItself: boolean
  /** The reason this version has no such algorithm; null if it has. */
  readonly reason: null
}

interface Decisions {
  readonly packed: PackedTree
  readonly settings: readonly ReadySetting[]
  readonly leaves: readonly TunedLeaf[]
}

export interface TunedLeaf {
  readonly setting: ReadySetting
  /** The setting as text: `bcast-chain:fanout=4,segment=8192`. */
  readonly line: string
  /** Describes in words the calls for which the leaf decides. */
  conditions(): string
}

/** The files that the processes of this thread use, each prepared once. */
const ready = new WeakMap<TuningFile, ReadonlyMap<Collective, Decisions>>()

function readyDecisions(file: TuningFile): ReadonlyMap<Collective, Decisions> {
  const known = ready.get(file)
  if (known !== undefined) return known
  const decisions = new Map<Collective, Decisions>()
  for (const [collective, learned] of Object.entries(file.decisions)) {
    const tree = treeOfDecisions(learned)
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

/** The reason in a leaf whose setting is `default`. */
export const leftToRule = 'the rule decides'

export function readySetting(setting: TuningSetting): ReadySetting {
  if (setting.algorithm === defaultAlgorithm) return { reason: leftToRule }
  const { segment, ...parameters } = setting.parameters
  const isCut = segment !== undefined && segment > 0
  const line = settingLine({ ...setting, parameters: isCut ? { ...parameters, segment } : parameters })
  try {
    const { algorithm, segmentBytes } = parseAlgorithm(line, setting.collective)
    const cutsByItself = defaultSegments(algorithm, Number.POSITIVE_INFINITY) > 1
    return { algorithm, segmentBytes, cutsByItself, reason: null }
  } catch (error) {
    return { reason: `this version does not know it: ${reasonText(error)}` }
  }
}

interface OwnDecisions {
  readonly packed: PackedTree
  readonly leaves: readonly TunedLeaf[]
  /** The words of the last look-up. */
  readonly words: {
    readonly collective: Collective
    readonly isMemoryShared: boolean
    operation: string | undefined
    order: CombinationOrder | undefined
  }
}

/**
 * The decisions of a tuning file for the calls of one communicator. They depend only on what all ranks of a call know,
 * so all choose alike.
 */
export class TunedCalls {
  readonly #own = new Map<Collective, OwnDecisions>()
  readonly #bcasts: readonly ReadySetting[]
  readonly #nodes: number
  readonly #processesPerNode: number
  readonly #processes: number

  constructor(file: TuningFile, { processes, runtime }: CommContext, isMemoryShared: boolean) {
    const { nodeOfProcess } = runtime.layout
    const perNode = new Map<number, number>()
    for (const process of processes.processes) {
      const node = nodeOfProcess[process]
      perNode.set(node, (perNode.get(node) ?? 0) + 1)
    }
    const decisions = readyDecisions(file)
    for (const [collective, { packed, leaves }] of decisions) {
      const words = { collective, isMemoryShared, operation: undefined, order: undefined }
      this.#own.set(collective, { packed, leaves, words })
    }
    this.#bcasts = decisions.get('bcast')?.settings ?? []
    this.#nodes = perNode.size
    this.#processesPerNode = largestOf([...perNode.values()])
    this.#processes = processes.count
  }

  /**
   * Returns the leaf that decides a call; undefined for a collective that has no tree in the file. Allocates nothing.
   *
   * @param bytes what MPI's count describes; infinite for long blocks whose lengths not all ranks know
   */
  leafOf(
    collective: Collective,
    bytes: number,
    operation?: string,
    order?: CombinationOrder,
  ): TunedLeaf | undefined {
    const own = this.#own.get(collective)
    if (own === undefined) return undefined
    const { packed, words, leaves } = own
    words.operation = operation
    words.order = order
    return leaves[findLeaf(packed, this.#nodes, this.#processesPerNode, this.#processes, bytes, words)]
  }

  /**
   * Returns the number of a bcast's algorithm in the file, by which the root names it to the others; -1 if it is not
   * there.
   */
  numberOf(algorithm: Algorithm): number {
    return this.#bcasts.findIndex((setting) => setting.reason === null && setting.algorithm === algorithm)
  }

  /** Returns the algorithm with a number: the inverse of {@link numberOf}. */
  algorithmOf(number: number): Algorithm {
    return (this.#bcasts[number] as ServableSetting).algorithm
  }
}

/**
 * Returns the number of segments into which a setting of a tuning file cuts every unit of data, if a call does not give
 * it. It equals that of a call that names the setting.
 *
 * @param parts into which its algorithm cuts a unit besides
 */
export function tunedSegments(setting: ServableSetting, sizeBytes: number, parts: number): number {
  const { algorithm, segmentBytes, cutsByItself } = setting
  // Some ranks do not know the lengths of long blocks, so they could not tell how many segments there are.
  if (sizeBytes === Number.POSITIVE_INFINITY) return algorithm.sections ?? 1
  if (segmentBytes !== undefined) return segmentsOfParts(sizeBytes, parts, segmentBytes, algorithm.sections)
  return cutsByItself ? defaultSegments(algorithm, sizeBytes) : (algorithm.sections ?? 1)
}
