import { type DecisionGrid, type OpenGrid, openGrid } from '../tuning/models/decision-grid.js'
import { packTree } from '../tuning/models/decision-tree.js'
import { fnvHash, isGrid, type TuningFile, treeOfDecisions } from '../tuning/models/tuning-file.js'
import type { TuningSetting } from '../tuning/settings/setting.js'
import { type Attribute, allAttributes } from '../tuning/settings/tuning-call.js'

/**
 * The form of tuning files and mappings that the preloaded library reads. Commands write it beside the JSON; a program
 * starts without a reader of JSON, and the library takes the bytes as they lie in its memory.
 *
 * A file is little-endian: 8 letters that name its kind, the version (4 bytes), a word of the kind (4), the bytes of the
 * file (8) and FNV-1a of 64 bits of all that follows (8). `src/shim/c/packed.c` reads this head, `tune-file.c` and
 * `reorder-file.c` what follows it.
 */
export const packedEnding = '.packed'

const version = 1
const headBytes = 32

/**
 * Packs a tuning file: its checksum (24 bytes), the names of the library (808) and of the machine (808), each ending
 * with a zero; the decisions as a C `rw_tuning` with its tests and settings; and an `rw_grid` for every collective whose
 * bit is set in the head.
 */
export function packedTuning({ source, decisions, checksum }: TuningFile): Uint8Array<ArrayBuffer> {
  const grids = collectives.flatMap((collective) => {
    const own = decisions[collective]
    return own !== undefined && isGrid(own)
      ? [{ collective, grid: openGrid(collective, own as DecisionGrid) }]
      : []
  })
  const trees = collectives.map((collective) => {
    const own = decisions[collective]
    return own === undefined ? undefined : treeOfDecisions(own)
  })
  const packed = trees.map((tree) => (tree === undefined ? undefined : packTree(tree)))
  const tests = packed.reduce((sum, tree) => sum + (tree?.attribute.length ?? 0), 0)
  const settings = trees.flatMap((tree) => tree?.settings ?? [])
  const tuningAt = headBytes + checksumBytes + 2 * nameBytes
  const testsAt = tuningAt + tuningBytes
  const settingsAt = testsAt + testBytes * tests
  const gridsAt = settingsAt + settingBytes * settings.length
  const bits = grids.reduce((word, { collective }) => word | (1 << collectives.indexOf(collective)), 0)
  const file = new PackedFile(
    'rwtuning',
    bits,
    grids.reduce((at, { grid }) => at + gridBytes(grid), gridsAt),
  )
  file.text(headBytes, checksum)
  file.text(headBytes + checksumBytes, source.name)
  file.text(headBytes + checksumBytes + nameBytes, source.machine)
  let firstTest = 0
  let firstSetting = 0
  for (const [i, tree] of packed.entries()) {
    if (tree === undefined) continue
    const own = trees[i]!.settings
    const reached = (child: number) => (child >= 0 ? child : ~tree.leafSetting[~child])
    file.ints(tuningAt + 16 * i, [firstTest, reached(tree.root), firstSetting, own.length])
    for (const [n, attribute] of tree.attribute.entries()) {
      const name = allAttributes[attribute]
      const value = tree.value[n]
      const at = testsAt + testBytes * (firstTest + n)
      file.view.setFloat64(at, isNumber(name) ? value : wordNumber(name, tree.words[value]), true)
      file.ints(at + 8, [attribute, reached(tree.yes[n]), reached(tree.no[n])])
    }
    firstTest += tree.attribute.length
    firstSetting += own.length
  }
  file.ints(tuningAt + tuningBytes - 8, [tests, settings.length])
  for (const [i, setting] of settings.entries()) writeSetting(file, settingsAt + settingBytes * i, setting)
  let at = gridsAt
  for (const { grid } of grids) {
    writeGrid(file, at, grid)
    at += gridBytes(grid)
  }
  return file.sealed()
}

/**
 * Packs a mapping: the digest of its graph, 16 bytes; then the slot of every vertex, 4 bytes each. The word of its head
 * is the number of vertices.
 *
 * @param graph as `edgesDigest` returns it: 32 hexadecimal digits
 */
export function packedMapping(graph: string, slotOf: ArrayLike<number>): Uint8Array<ArrayBuffer> {
  const file = new PackedFile('rwmapped', slotOf.length, headBytes + 16 + 4 * slotOf.length)
  for (let lane = 0; lane < 4; lane++)
    file.view.setUint32(headBytes + 4 * lane, Number.parseInt(graph.slice(8 * lane, 8 * lane + 8), 16), true)
  file.ints(headBytes + 16, slotOf)
  return file.sealed()
}

// The sizes are those of the structures in tune.h, where the compiler checks them.
const checksumBytes = 24
const nameBytes = 808
const tuningBytes = 216
const testBytes = 24
const settingBytes = 408
const [algorithmAt, algorithmBytes, parameterBytes, mostParameters] = [72, 65, 33, 8] as const

/** The collectives in the order of their numbers in tune.h. */
const collectives = [
  ...([
    'barrier',
    'bcast',
    'scatter',
    'gather',
    'allgather',
    'reduce',
    'allreduce',
    'reduce-scatter',
  ] as const),
  ...(['alltoall', 'scan', 'exscan'] as const),
] as const

/** The words of attributes in the order of their numbers there; -1 for a word that no call of MPI has. */
const words: Readonly<Partial<Record<Attribute, readonly string[]>>> = {
  collective: collectives,
  operation: [
    ...['', 'sum', 'prod', 'min', 'max', 'land', 'lor', 'lxor', 'band', 'bor', 'bxor', 'minloc', 'maxloc'],
  ],
  order: ['', 'tree', 'ranks', 'any'],
}
const answers = ['', 'no', 'yes']

const isNumber = (attribute: Attribute) =>
  allAttributes.indexOf(attribute) < allAttributes.indexOf('collective')

const wordNumber = (attribute: Attribute, word: string) => (words[attribute] ?? answers).indexOf(word)

/** Bytes of one file, which has its head when it is sealed. */
class PackedFile {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly view: DataView

  constructor(kind: string, word: number, sizeBytes: number) {
    this.bytes = new Uint8Array(sizeBytes)
    this.view = new DataView(this.bytes.buffer)
    this.text(0, kind)
    this.ints(8, [version, word])
    this.view.setBigUint64(16, BigInt(sizeBytes), true)
  }

  text(at: number, text: string): void {
    new TextEncoder().encodeInto(text, this.bytes.subarray(at))
  }

  ints(at: number, values: ArrayLike<number>): void {
    for (let i = 0; i < values.length; i++) this.view.setInt32(at + 4 * i, values[i], true)
  }

  sealed(): Uint8Array<ArrayBuffer> {
    this.view.setBigUint64(24, BigInt(`0x${fnvHash(this.bytes.subarray(headBytes))}`), true)
    return this.bytes
  }
}

function writeSetting(
  file: PackedFile,
  at: number,
  { collective, algorithm, parameters }: TuningSetting,
): void {
  const given = Object.entries(parameters).slice(0, mostParameters)
  for (const [i, [name, value]] of given.entries()) {
    file.view.setBigInt64(at + 8 * i, BigInt(value), true)
    file.text(at + algorithmAt + algorithmBytes + parameterBytes * i, name)
  }
  file.ints(at + 64, [collectives.indexOf(collective as (typeof collectives)[number]), given.length])
  file.text(at + algorithmAt, algorithm)
}

/** Returns the bytes of a grid: its head, edges, best settings, performances and excluded settings. */
function gridBytes({ axes, best, performances, settings }: OpenGrid): number {
  const edges = axes.bytes.length + axes.nodes.length + axes.processesPerNode.length
  const bytes = 24 + 8 * edges + 4 * best.length + 4 * (performances?.length ?? 0) + settings.length
  return 8 * Math.ceil(bytes / 8)
}

function writeGrid(file: PackedFile, at: number, grid: OpenGrid): void {
  const { axes, best, performances, settings, isTrained, excluded = [] } = grid
  const edges = [axes.bytes, axes.nodes, axes.processesPerNode]
  const flags = [isTrained ? 1 : 0, performances === undefined ? 0 : 1]
  file.ints(at, [...edges.map(({ length }) => length), settings.length, ...flags])
  let next = at + 24
  for (const edge of edges.flat()) {
    file.view.setFloat64(next, edge, true)
    next += 8
  }
  file.ints(next, best)
  next += 4 * best.length
  for (const performance of performances ?? []) {
    file.view.setFloat32(next, performance, true)
    next += 4
  }
  for (const number of excluded) file.bytes[next + number - 1] = 1
}
