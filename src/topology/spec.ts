import { RankweaveError } from '../errors.js'
import { type OnRead, type OpenSource, withSource } from './byte-source.js'
import { cartTopology } from './cartesian.js'
import { parseEdgeList } from './edge-list.js'
import { erdosRenyiTopology } from './erdos-renyi.js'
import { topologyFromMatrixMarket } from './matrix-market-topology.js'
import { mooreTopology } from './moore.js'
import type { ProcessTopology } from './process-topology.js'

/** How to make a topology, in one line of text: see {@link parseTopologySpec}. */
export type TopologySpec =
  | {
      readonly kind: 'moore'
      readonly dims: readonly number[]
      readonly radius: number
      readonly periodic: boolean
    }
  | { readonly kind: 'er'; readonly ranks: number; readonly density: number; readonly seed: number }
  | { readonly kind: 'cart'; readonly dims: readonly number[]; readonly periods: readonly boolean[] }
  | { readonly kind: 'mtx'; readonly file: string; readonly ranks: number }
  | { readonly kind: 'edges'; readonly file: string }

/**
 * Reads a topology's line of text:
 * - `moore:64x64:r=4`: Moore neighborhood of radius 4, periodic; `moore:64x64:r=4:open` does not wrap
 * - `er:1024:d=0.2:seed=1`: Erdos-Renyi; without a seed, 1
 * - `cart:8x8x8`: grid; `:periodic` wraps all dimensions, `:periods=1,0,1` some
 * - `mtx:FILE:ranks=256`: from the pattern of a Matrix Market file, cut among 256 ranks
 * - `edges:FILE`: a list of edges ({@link parseEdgeList})
 *
 * FILE may contain colons. Only the text is looked at, no file is read.
 *
 * @throws ERR_SPEC saying what was expected and at which character
 */
export function parseTopologySpec(text: string): TopologySpec {
  const colon = text.indexOf(':')
  const reader = new SpecReader(text, colon + 1)
  switch (colon < 0 ? '' : text.slice(0, colon)) {
    case 'moore': {
      const dims = reader.extents()
      const radius = reader.option('r') ?? reader.fail("':r=RADIUS'")
      const open = reader.flag('open')
      if (!open) reader.flag('periodic')
      reader.end("':open', ':periodic' or the end")
      return { kind: 'moore', dims, radius: reader.whole(radius, 1), periodic: !open }
    }
    case 'er': {
      const ranks = reader.whole(reader.next('a number of ranks'), 1)
      const density = reader.fraction(reader.option('d') ?? reader.fail("':d=DENSITY'"))
      const seed = reader.option('seed')
      reader.end(seed === null ? "':seed=SEED' or the end" : 'the end')
      return { kind: 'er', ranks, density, seed: seed === null ? 1 : reader.whole(seed, 0) }
    }
    case 'cart': {
      const dims = reader.extents()
      const all = reader.flag('periodic')
      const some = all || reader.flag('open') ? null : reader.option('periods')
      reader.end(some === null && !all ? "':periodic', ':periods=1,0,...', ':open' or the end" : 'the end')
      const periods = some === null ? dims.map(() => all) : reader.periods(some, dims.length)
      return { kind: 'cart', dims, periods }
    }
    case 'mtx': {
      const match = /^(.+):ranks=([^:]*)$/s.exec(text.slice(colon + 1))
      if (match === null) return reader.fail("'FILE:ranks=RANKS'")
      const at = text.length - match[2].length
      return { kind: 'mtx', file: match[1], ranks: reader.whole({ word: match[2], at }, 1) }
    }
    case 'edges': {
      const file = text.slice(colon + 1)
      if (file === '') return reader.fail('a file name')
      return { kind: 'edges', file }
    }
    default:
      return new SpecReader(text, 0).fail("'moore:', 'er:', 'cart:', 'mtx:' or 'edges:'")
  }
}

/** The line of text that {@link parseTopologySpec} reads back to the same specification. */
export function formatTopologySpec(spec: TopologySpec): string {
  switch (spec.kind) {
    case 'moore':
      return `moore:${spec.dims.join('x')}:r=${spec.radius}${spec.periodic ? '' : ':open'}`
    case 'er':
      return `er:${spec.ranks}:d=${spec.density}:seed=${spec.seed}`
    case 'cart': {
      const dims = `cart:${spec.dims.join('x')}`
      if (spec.periods.every(Boolean)) return `${dims}:periodic`
      return spec.periods.some(Boolean) ? `${dims}:periods=${spec.periods.map(Number).join(',')}` : dims
    }
    case 'mtx':
      return `mtx:${spec.file}:ranks=${spec.ranks}`
    case 'edges':
      return `edges:${spec.file}`
  }
}

/**
 * Makes the topology, reading its file if it has one.
 *
 * @throws what the generator or reader throws: ERR_TOPOLOGY, ERR_DIMS, ERR_MATRIX_MARKET, ERR_FILE; ERR_SPEC for text
 */
export function buildTopology(
  specOrText: TopologySpec | string,
  options: { readonly open?: OpenSource; readonly onRead?: OnRead } = {},
): ProcessTopology {
  const spec = typeof specOrText === 'string' ? parseTopologySpec(specOrText) : specOrText
  switch (spec.kind) {
    case 'moore':
      return mooreTopology(spec)
    case 'er':
      return erdosRenyiTopology(spec)
    case 'cart':
      return cartTopology(spec)
    case 'mtx':
      return withSource(spec.file, (source) => topologyFromMatrixMarket(source, spec), options)
    case 'edges':
      return withSource(spec.file, (source) => parseEdgeList(source, spec.file), options)
  }
}

/** A part of the text and where it begins. */
interface Word {
  readonly word: string
  readonly at: number
}

/** Reads the parts between colons from left to right. */
class SpecReader {
  readonly #text: string
  #at: number

  constructor(text: string, at: number) {
    this.#text = text
    this.#at = at
  }

  fail(expected: string, at = this.#at): never {
    const rest = this.#text.slice(at)
    throw new RankweaveError(
      'ERR_SPEC',
      `topology '${this.#text}', character ${at + 1}: expected ${expected}, got ${rest === '' ? 'the end' : `'${rest}'`}`,
      { details: { text: this.#text, at } },
    )
  }

  #peek(): Word | null {
    if (this.#at > this.#text.length) return null
    const colon = this.#text.indexOf(':', this.#at)
    return { word: this.#text.slice(this.#at, colon < 0 ? undefined : colon), at: this.#at }
  }

  #skip({ word }: Word): void {
    this.#at += word.length + 1
  }

  next(expected: string): Word {
    const next = this.#peek()
    if (next === null || next.word === '') return this.fail(expected)
    this.#skip(next)
    return next
  }

  /** The value of `key=value` if that comes next. */
  option(key: string): Word | null {
    const next = this.#peek()
    if (next === null || !next.word.startsWith(`${key}=`)) return null
    this.#skip(next)
    return { word: next.word.slice(key.length + 1), at: next.at + key.length + 1 }
  }

  flag(name: string): boolean {
    const next = this.#peek()
    if (next?.word !== name) return false
    this.#skip(next)
    return true
  }

  end(expected: string): void {
    if (this.#at <= this.#text.length) this.fail(expected)
  }

  extents(): number[] {
    const { word, at } = this.next("extents such as '64x64'")
    if (!/^\d+(x\d+)*$/.test(word)) this.fail("extents such as '64x64'", at)
    return word.split('x').map((extent) => this.whole({ word: extent, at }, 1))
  }

  whole({ word, at }: Word, min: number): number {
    const value = /^\d+$/.test(word) ? Number(word) : Number.NaN
    if (!Number.isSafeInteger(value) || value < min) this.fail(`a whole number of at least ${min}`, at)
    return value
  }

  fraction({ word, at }: Word): number {
    const value = /^[\d.]+(e[+-]?\d+)?$/i.test(word) ? Number(word) : Number.NaN
    if (!(value >= 0 && value <= 1)) this.fail('a number from 0 to 1', at)
    return value
  }

  periods({ word, at }: Word, dims: number): boolean[] {
    const flags = word.split(',')
    if (flags.length !== dims || flags.some((flag) => flag !== '0' && flag !== '1'))
      this.fail(`${dims} flags 0 or 1 such as '${new Array(dims).fill('1').join(',')}'`, at)
    return flags.map((flag) => flag === '1')
  }
}
