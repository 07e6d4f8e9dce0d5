import { createHash } from 'node:crypto'
import type { UploadFormat } from '../../client/protocol/http.js'
import { isRankweaveError, RankweaveError } from '../../errors.js'
import { type ByteSource, isGzip, readText } from '../../text/byte-source.js'
import { expanded, openSourceFile, type ReadProgress } from '../../text/source-file.js'
import { TextReader } from '../../text/text-reader.js'
import { matrixMarketText, readMatrixMarketHeader } from '../../topology/files/matrix-market.js'
import { parseTopologySpec, type TopologySpec } from '../../topology/files/spec-text.js'
import { buildTopology } from '../../topology/files/topology-from-spec.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import { topologyHash } from '../../topology/topology-hash.js'
import type { DescribedUpload, UploadedTopology } from './task.js'

/** The most characters, as JSON, of the keys that an answer lists. */
const longestKeys = 2 ** 20

/**
 * Builds an upload, names it by its content, and finds what is odd in it although it was accepted.
 *
 * @throws as {@link buildUpload}
 */
export function describedUpload(
  upload: UploadedTopology,
  expandedBytes: number,
  onProgress: ReadProgress,
): DescribedUpload {
  const { topology, matrixRanks } = buildUpload(upload, expandedBytes, onProgress)
  const counts = oddCounts(topology)
  const keys =
    upload.format === 'json' ? keysOf(boundedUpload(upload.path, expandedBytes), topology.ranks) : null
  return {
    digest: digestOf(topology),
    ranks: topology.ranks,
    edges: topology.outRank.length,
    matrixRanks,
    ...counts,
    // The texts of generators mean every edge that they make.
    remark: upload.format === 'spec' ? null : remarkOf(topology, counts, keys, upload.format),
    keys,
  }
}

type OddCounts = Pick<DescribedUpload, 'selfLoops' | 'parallelEdges' | 'idleRanks'>

const isIdle = ({ outStart, inStart }: ProcessTopology, p: number): boolean =>
  outStart[p] === outStart[p + 1] && inStart[p] === inStart[p + 1]

/** Time: edges. Memory: 4 bytes a rank. */
function oddCounts(topology: ProcessTopology): OddCounts {
  const { ranks, outStart, outRank } = topology
  /** The last rank that has an edge to each rank. */
  const lastSource = new Int32Array(ranks).fill(-1)
  let [selfLoops, parallelEdges, idleRanks] = [0, 0, 0]
  for (let p = 0; p < ranks; p++) {
    for (let e = outStart[p]; e < outStart[p + 1]; e++) {
      const q = outRank[e]
      if (q === p) selfLoops++
      if (lastSource[q] === p) parallelEdges++
      lastSource[q] = p
    }
    if (isIdle(topology, p)) idleRanks++
  }
  return { selfLoops, parallelEdges, idleRanks }
}

/** Returns the oddities in words; null if there are none. */
function remarkOf(
  topology: ProcessTopology,
  { selfLoops, parallelEdges, idleRanks }: OddCounts,
  keys: readonly string[] | null,
  format: UploadFormat,
): string | null {
  const countsFromOne = format !== 'json' && topology.ranks > 1 && isIdle(topology, 0) && !isIdle(topology, 1)
  const other = keys?.findIndex((key, rank) => /^\d+$/.test(key) && Number(key) !== rank) ?? -1
  const remarks = [
    ...(other < 0 ? [] : [`node '${keys![other]}' is rank ${other}: ranks follow the order of nodes`]),
    ...(countsFromOne
      ? ['rank 0 has no edges: ranks count from 0, and the upload may count from 1']
      : idleRanks > 0
        ? [`ranks without edges: ${idleRanks}`]
        : []),
    ...(selfLoops > 0 ? [`edges from a rank to itself: ${selfLoops}`] : []),
    ...(parallelEdges > 0 ? [`edges that repeat another: ${parallelEdges}`] : []),
  ]
  return remarks.length === 0 ? null : remarks.join('; ')
}

/** Returns the key of every rank of a graph in JSON, which was read before; null if they are too long to list. */
function keysOf(source: ByteSource, ranks: number): string[] | null {
  if (ranks * 4 > longestKeys) {
    source.close()
    return null
  }
  try {
    const text = readText(source, uploadName).replace(/^\ufeff/, '')
    const graph = JSON.parse(text) as { readonly nodes: readonly { readonly key: string | number }[] }
    const keys = graph.nodes.map(({ key }) => String(key))
    return JSON.stringify(keys).length > longestKeys ? null : keys
  } finally {
    source.close()
  }
}

/** The name of the upload in errors. */
const uploadName = 'the upload'

const fileKinds = { edges: 'edges', csv: 'csv', metis: 'metis', json: 'graphology' } as const

/** The most characters of a text of a topology, longer than any valid one. */
const longestSpec = 4096

/**
 * Builds what was uploaded. Limits of this thread (`lowerTopologyLimits`) hold before anything is allocated.
 *
 * @param expandedBytes what a compressed upload may expand to
 * @returns also the ranks of a matrix, which are as many as its rows unless given
 * @throws ERR_SPEC, ERR_TOPOLOGY, ERR_MATRIX_MARKET, ERR_FILE, ERR_LIMIT
 */
export function buildUpload(
  { path, format, ranks }: UploadedTopology,
  expandedBytes: number,
  onProgress: ReadProgress = () => {},
): { readonly topology: ProcessTopology; readonly matrixRanks: number | null } {
  const open = () => boundedUpload(path, expandedBytes)
  try {
    return builtUpload({ path, format, ranks }, open, onProgress)
  } catch (cause) {
    if (!(cause instanceof RankweaveError)) throw cause
    const { code, details } = cause
    const other = code === 'ERR_TOPOLOGY' ? formatOf(read(open(), 64), format) : null
    const message = cause.message.replace(/^the upload:(\d+):(\d+):/, 'line $1, column $2 of the upload:')
    const hint = other === null ? '' : `; this looks like ${other}: pass ?format=${other}`
    throw new RankweaveError(code, `${message}${hint}`, { cause, details })
  }
}

/** Returns the format that a text has by its beginning; null for the one that was named, and where it shows none. */
function formatOf(beginning: string, named: UploadFormat): UploadFormat | null {
  const formats = [
    ['mtx', /^%%MatrixMarket/i],
    ['json', /^\s*\{/],
    ['csv', /^\s*"?\w+"?\s*[,;]/],
  ] as const
  const found = formats.find(([, pattern]) => pattern.test(beginning))?.[0]
  return found === undefined || found === named ? null : found
}

function builtUpload(
  { format, ranks }: UploadedTopology,
  open: () => ByteSource,
  onProgress: ReadProgress,
): { readonly topology: ProcessTopology; readonly matrixRanks: number | null } {
  if (format === 'spec') {
    const text = read(open(), longestSpec).trim()
    if (text.includes('\n'))
      throw new RankweaveError(
        'ERR_SPEC',
        'the upload: expected a topology in one line, got several: pass its format, such as ?format=csv',
      )
    const spec = specOf(text)
    if ('file' in spec)
      throw new RankweaveError('ERR_SPEC', 'expected a topology by parameters: of a file, upload the content')
    return { topology: buildTopology(spec), matrixRanks: null }
  }
  if (format !== 'mtx')
    return {
      topology: buildTopology({ kind: fileKinds[format], file: uploadName }, { open, onProgress }),
      matrixRanks: null,
    }
  const matrixRanks = ranks ?? rowsOf(open())
  const spec = { kind: 'mtx', file: uploadName, ranks: matrixRanks } as const
  return { topology: buildTopology(spec, { open, onProgress }), matrixRanks }
}

/** Returns the upload, expanded if it is compressed, once, and no further than the bound. */
function boundedUpload(path: string, most: number): ByteSource {
  const file = openSourceFile(path)
  const { source, isCompressed } = openExpanded(file)
  // A read may give a single byte, and the beginning of a gzip file is two.
  const beginning = new Uint8Array(2)
  let total = 0
  return {
    sizeBytes: isCompressed ? null : source.sizeBytes,
    read: (into) => {
      const count = source.read(into)
      if (total < beginning.length)
        beginning.set(into.subarray(0, Math.min(count, beginning.length - total)), total)
      if (isCompressed && total < beginning.length && isGzip(beginning))
        throw new RankweaveError('ERR_FILE', 'the upload is compressed twice')
      total += count
      if (total > most)
        throw new RankweaveError('ERR_LIMIT', `the upload expands to more than ${most} bytes (expandedBytes)`)
      return count
    },
    close: () => file.close(),
  }
}

/** Expands a file if it is compressed, and closes it after an error. */
function openExpanded(file: ByteSource): ReturnType<typeof expanded> {
  try {
    return expanded(file, uploadName)
  } catch (error) {
    file.close()
    throw error
  }
}

function read(source: ByteSource, most: number): string {
  try {
    const bytes = new Uint8Array(most)
    let count = 0
    for (let more = -1; more !== 0 && count < most; count += more) more = source.read(bytes.subarray(count))
    return new TextDecoder().decode(bytes.subarray(0, count))
  } finally {
    source.close()
  }
}

function rowsOf(source: ByteSource): number {
  try {
    return readMatrixMarketHeader(new TextReader(source, { file: uploadName, ...matrixMarketText })).rows
  } finally {
    source.close()
  }
}

/** Parses a topology in one line. @throws ERR_SPEC, which says what to do with a file as well */
function specOf(text: string): TopologySpec {
  try {
    return parseTopologySpec(text)
  } catch (cause) {
    if (!isRankweaveError(cause, 'ERR_SPEC')) throw cause
    throw new RankweaveError(
      'ERR_SPEC',
      `${cause.message}; for a file pass its format, such as ?format=edges`,
      {
        cause,
      },
    )
  }
}

/**
 * Computes the digest from which the id of a topology is made. It covers all that planning knows of it: its neighbors
 * in order, its weights, and its shape if it is a grid.
 */
function digestOf(topology: ProcessTopology): string {
  const { cart, pairing, outWeight, inWeight } = topology
  const hash = createHash('sha256').update(topologyHash(topology)).update(JSON.stringify({ cart, pairing }))
  for (const weights of [outWeight, inWeight])
    if (weights !== null) hash.update(new Uint8Array(weights.buffer, weights.byteOffset, weights.byteLength))
  return hash.digest('hex')
}
