import { requireKnownOptions } from '../../base/known-options.js'
import { RecentObjects } from '../../base/maps.js'
import { type OptionTable, uncheckedOptions } from '../../base/option.js'
import { wrongValue } from '../../errors.js'
import type { ByteSource } from '../../text/byte-source.js'
import { type OpenSource, type ReadProgress, withSource } from '../../text/source-file.js'
import { checkExtents, sizeOf } from '../cart-shape.js'
import { cartTopology } from '../generate/cartesian.js'
import {
  erdosRenyiTopology,
  powerLawTopology,
  randomGeometricTopology,
  rmatTopology,
  smallWorldTopology,
} from '../generate/random-graphs.js'
import { mooreTopology, stencilOffsets, stencilSize, stencilTopology } from '../generate/stencil.js'
import { checkTopologySize, topologyLimits } from '../limits.js'
import type { ProcessTopology } from '../process-topology.js'
import { parseCsv } from './csv.js'
import { parseEdgeList } from './edge-list.js'
import type { FileNotes } from './file-notes.js'
import { parseGraphologyJson } from './graphology-json.js'
import { topologyFromMatrixMarket } from './matrix-market.js'
import { topologyFromMetis } from './metis.js'
import { parseTopologySpec, type TopologySpec } from './spec-text.js'

interface FileOptions {
  readonly open?: OpenSource
  readonly onProgress?: ReadProgress
}

/** A specification of a topology in a file. */
export type FileSpec = Extract<TopologySpec, { readonly file: string }>

const knownOptions: OptionTable<FileOptions> = uncheckedOptions('open', 'onProgress')

/**
 * Makes the topology, reading its file if it has one: from disk, or from what `open` returns, such as `sourceOf(text)`.
 * Callers in a thread that name the same generated graph share one object while any of them holds it. Do not write to
 * its lists.
 *
 * @throws the error of the generator or reader: ERR_TOPOLOGY, ERR_DIMS, ERR_MATRIX_MARKET, ERR_FILE; ERR_SPEC for text
 */
export function buildTopology(specOrText: TopologySpec | string, options: FileOptions = {}): ProcessTopology {
  const spec = typeof specOrText === 'string' ? parseTopologySpec(specOrText) : specOrText
  requireKnownOptions('buildTopology', options, knownOptions)
  const { kind } = Object(spec) as Partial<TopologySpec>
  if (typeof kind !== 'string' || !Object.hasOwn(builders, kind))
    throw wrongValue('ERR_SPEC', 'expected a specification of a topology', spec)
  // The kind selects the builder for this member of the union; TypeScript cannot express that.
  const build = builders[kind] as Builder<TopologySpec>
  return 'file' in spec ? build(spec, options) : generatedOnce(spec, () => build(spec, options))
}

/**
 * Makes the topology of a file as {@link buildTopology} does, and notes how it was read and what is odd.
 *
 * @throws as buildTopology does
 */
export function readTopologyFile(
  spec: FileSpec,
  notes: FileNotes,
  options: FileOptions = {},
): ProcessTopology {
  const build = builders[spec.kind] as Builder<FileSpec>
  return build(spec, options, notes)
}

/**
 * The graphs that this thread generated last, by limits and specifications as JSON, which tells `64` from `'64'` where
 * `formatTopologySpec` does not.
 */
const generated = new RecentObjects<ProcessTopology, string>(8)

function generatedOnce(spec: TopologySpec, build: () => ProcessTopology): ProcessTopology {
  const key = keyOf(spec)
  if (key === null) return build()
  return generated.find((_, known) => known === key) ?? generated.add(build(), key)
}

/**
 * Returns a key with the limits of now, which a generator checks again when they change; null for what has no JSON, which
 * the generator refuses.
 */
function keyOf(spec: TopologySpec): string | null {
  try {
    const plain = (_: string, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value)
    return JSON.stringify([topologyLimits, spec], plain)
  } catch {
    return null
  }
}

type Builder<S> = (spec: S, options: FileOptions, notes?: FileNotes) => ProcessTopology
type SpecOf<K, S = TopologySpec> = S extends { readonly kind: infer Kinds }
  ? K extends Kinds
    ? S
    : never
  : never

const builders: { readonly [K in TopologySpec['kind']]: Builder<SpecOf<K>> } = {
  moore: ({ kind: _, ...options }) => mooreTopology(options),
  stencil: ({ dims, periods, neighbors }) => {
    if ('offsets' in neighbors) return stencilTopology({ dims, periods, offsets: neighbors.offsets })
    const { shape, radius } = neighbors
    // The size is checked before the offsets are listed.
    checkExtents(dims)
    checkTopologySize('stencil', sizeOf({ dims }), sizeOf({ dims }) * stencilSize(shape, dims.length, radius))
    return stencilTopology({ dims, periods, offsets: stencilOffsets(shape, dims.length, radius) })
  },
  cart: cartTopology,
  er: ({ kind: _, ...options }) => erdosRenyiTopology(options),
  rgg: ({ kind: _, ...options }) => randomGeometricTopology(options),
  ws: ({ kind: _, ...options }) => smallWorldTopology(options),
  powerlaw: ({ kind: _, ...options }) => powerLawTopology(options),
  rmat: ({ kind: _, ...options }) => rmatTopology(options),
  mtx: (spec, options, notes) =>
    fromFile(spec.file, options, notes, (source) => topologyFromMatrixMarket(source, spec, notes)),
  metis: ({ file }, options, notes) =>
    fromFile(file, options, notes, (source) => topologyFromMetis(source, file, notes)),
  csv: (spec, options, notes) =>
    fromFile(spec.file, options, notes, (source) => parseCsv(source, spec, notes)),
  graphology: (spec, options, notes) =>
    fromFile(spec.file, options, notes, (source) => parseGraphologyJson(source, spec, notes)),
  edges: ({ file }, options, notes) =>
    fromFile(file, options, notes, (source) => parseEdgeList(source, file, notes)),
}

function fromFile(
  file: string,
  options: FileOptions,
  notes: FileNotes | undefined,
  read: (source: ByteSource) => ProcessTopology,
): ProcessTopology {
  const readNoting = (source: ByteSource, isCompressed: boolean) => {
    if (notes !== undefined) notes.isCompressed = isCompressed
    return read(source)
  }
  return withSource(file, readNoting, options)
}
