import type { Collective } from '../../schedule/specification.js'
import type { MeasurementSource } from '../measured/measurement.js'
import { defaultAlgorithm } from '../settings/setting.js'
import type { NumberAttribute } from '../settings/tuning-call.js'
import { type DecisionGrid, type OpenGrid, openGrid } from './decision-grid.js'
import type { DecisionNode, DecisionTree } from './decision-tree.js'

/**
 * The result of `rankweave tune` and `rankweave learn`, which a run, a preloaded library and generators read: a
 * decision tree or a grid for each collective.
 *
 * **File.** JSON in UTF-8, at most 16 MiB, nesting at most 44 deep; members that are not listed here are refused.
 *
 * ```json
 * {"format":"rankweave-tuning","version":1,
 *  "source":{"kind":"mpi","name":"Open MPI 4.1.4","machine":"four nodes"},
 *  "decisions":{"bcast":{"settings":[{"collective":"bcast","algorithm":"pipeline","parameters":{"segment":8192}}],
 *   "root":{"kind":"leaf","setting":0,"cases":1,"errors":0}}},
 *  "checksum":"6d7e53f5a76fccd2"}
 * ```
 *
 * **Which calls.** `decisions` has a tree or a grid for each collective that was measured. The reader's default rule
 * takes a call of another collective. It also replaces a setting that the reader does not know, or that cannot serve
 * the call (its number of ranks, its operation).
 *
 * The setting `default` leaves a call to the reader. If nodes have different numbers of processes, decisions count the
 * actual processes, and `processesPerNode` is the largest of them.
 *
 * **Which names.** With `source.kind` `mpi`, algorithms have the names of the MPI library in `source.name`, and only
 * that library in that version takes them. Otherwise they are the registry's ids.
 *
 * **Checksum.** FNV-1a of 64 bits, as 16 hexadecimal digits. It covers the UTF-8 text of the file before `,"checksum"`,
 * without spaces, tabs and ends of lines outside of strings. A reader refuses a file with another one: it was damaged,
 * or edited by hand.
 */
export interface TuningFile {
  readonly format: typeof tuningFormat
  readonly version: typeof tuningVersion
  readonly source: MeasurementSource
  /** The decisions. Each tree or grid names settings of its collective only. */
  readonly decisions: Readonly<Partial<Record<Collective, TreeOrGrid>>>
  readonly checksum: string
}

export const tuningFormat = 'rankweave-tuning'
export const tuningVersion = 1

/** The decisions of a tuning file for a collective: a tree learned from measurements, or a grid learned from runs. */
export type TreeOrGrid = DecisionTree | DecisionGrid

export function isGrid(decisions: TreeOrGrid): decisions is DecisionGrid {
  return 'kind' in decisions
}

/** Returns decisions as a tree, whatever form they have. */
export function treeOfDecisions(decisions: TreeOrGrid): DecisionTree {
  return isGrid(decisions) ? gridTree(openGrid('grid', decisions)) : decisions
}

/** Intervals of an axis, from the first to before the last. */
type Range = readonly [number, number]

/**
 * Returns the best settings of a grid as a tree of tests with the same decision for every call. It serves generators,
 * and readers that know trees. Neighboring cells of one setting become one leaf. At most 14 tests on a path for 18 x 17
 * x 9 cells.
 *
 * A cell without a setting is left to the default, which is a further setting of the tree.
 *
 * Leaves have no cases: 0.
 */
export function gridTree({ settings, axes, best }: OpenGrid): DecisionTree {
  const [{ collective }] = settings
  const own = settings.findIndex(({ algorithm }) => algorithm === defaultAlgorithm)
  const byDefault = own < 0 ? settings.length : own
  const { bytes, nodes, processesPerNode } = axes
  const cellAt = (ofBytes: number, ofNodes: number, perNode: number): number => {
    const number = best[(perNode * nodes.length + ofNodes) * bytes.length + ofBytes]
    return number === 0 ? byDefault : number - 1
  }
  const settingOf = ([fromBytes, toBytes]: Range, [fromNodes, toNodes]: Range, [from, to]: Range): number => {
    const first = cellAt(fromBytes, fromNodes, from)
    for (let perNode = from; perNode < to; perNode++)
      for (let ofNodes = fromNodes; ofNodes < toNodes; ofNodes++)
        for (let ofBytes = fromBytes; ofBytes < toBytes; ofBytes++)
          if (cellAt(ofBytes, ofNodes, perNode) !== first) return -1
    return first
  }
  const nodeOf = (ofBytes: Range, ofNodes: Range, perNode: Range): DecisionNode => {
    const setting = settingOf(ofBytes, ofNodes, perNode)
    if (setting >= 0) return { kind: 'leaf', setting, cases: 0, errors: 0 }
    const halved = (
      attribute: NumberAttribute,
      edges: readonly number[],
      [from, to]: Range,
      part: (range: Range) => DecisionNode,
    ): DecisionNode => {
      const middle = (from + to) >> 1
      // Sizes are integers, so the limit is one less than the edge.
      const atMost = edges[middle] - 1
      return { kind: 'threshold', attribute, atMost, below: part([from, middle]), above: part([middle, to]) }
    }
    if (lengthOf(perNode) > 1)
      return halved('processesPerNode', processesPerNode, perNode, (part) => nodeOf(ofBytes, ofNodes, part))
    if (lengthOf(ofNodes) > 1)
      return halved('nodes', nodes, ofNodes, (part) => nodeOf(ofBytes, part, perNode))
    return halved('bytes', bytes, ofBytes, (part) => nodeOf(part, ofNodes, perNode))
  }
  const root = nodeOf([0, bytes.length], [0, nodes.length], [0, processesPerNode.length])
  const more = own < 0 ? [{ collective, algorithm: defaultAlgorithm, parameters: {} }] : []
  return { settings: [...settings, ...more], root }
}

function lengthOf([from, to]: Range): number {
  return to - from
}

/** Returns FNV-1a of 64 bits over bytes, as 16 hexadecimal digits. */
export function fnvHash(bytes: Uint8Array): string {
  // The hash is in four parts of 16 bits, so that products stay below 2^26. The prime is 2^40 + 0x1b3.
  let [d, c, b, a] = [0xcbf2, 0x9ce4, 0x8422, 0x2325]
  for (const byte of bytes) {
    a ^= byte
    const a0 = a * 0x1b3
    const b0 = b * 0x1b3 + (a0 >>> 16)
    const c0 = c * 0x1b3 + (a << 8) + (b0 >>> 16)
    const d0 = d * 0x1b3 + (b << 8) + (c0 >>> 16)
    a = a0 & 0xffff
    b = b0 & 0xffff
    c = c0 & 0xffff
    d = d0 & 0xffff
  }
  return [d, c, b, a].map((part) => part.toString(16).padStart(4, '0')).join('')
}
