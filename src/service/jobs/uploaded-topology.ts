import { RankweaveError } from '../../errors.js'
import { type ByteSource, isGzip } from '../../text/byte-source.js'
import { expanded, openSourceFile, type ReadProgress } from '../../text/source-file.js'
import { TextReader } from '../../text/text-reader.js'
import { matrixMarketText, readMatrixMarketHeader } from '../../topology/files/matrix-market.js'
import { parseTopologySpec } from '../../topology/files/spec-text.js'
import { buildTopology } from '../../topology/files/topology-from-spec.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import type { UploadedTopology } from './task.js'

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
  const open = () => bounded(path, expandedBytes)
  if (format === 'spec') {
    const text = read(open(), longestSpec).trim()
    const spec = parseTopologySpec(text)
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
function bounded(path: string, most: number): ByteSource {
  const file = openSourceFile(path)
  const { source, isCompressed } = expanded(file, uploadName)
  let total = 0
  return {
    sizeBytes: isCompressed ? null : source.sizeBytes,
    read: (into) => {
      const count = source.read(into)
      if (isCompressed && total === 0 && isGzip(into.subarray(0, count)))
        throw new RankweaveError('ERR_FILE', 'the upload is compressed twice')
      total += count
      if (total > most)
        throw new RankweaveError('ERR_LIMIT', `the upload expands to more than ${most} bytes (expandedBytes)`)
      return count
    },
    close: () => file.close(),
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
