import { requireOptions, requireText } from '../../base/known-options.js'
import { RankweaveError, shortened, shown } from '../../errors.js'
import { graph500Quarters } from '../generate/random-graphs.js'
import { type StencilShape, stencilShapes } from '../generate/stencil.js'
import type { Translations } from '../generate/translations.js'
import { type CsvOptions, delimiterNames } from './csv.js'

/** The description of a topology in one line of text: see {@link parseTopologySpec}. */
export type TopologySpec =
  | {
      readonly kind: 'moore'
      readonly dims: readonly number[]
      readonly radius: number
      readonly periodic: boolean
    }
  | {
      readonly kind: 'stencil'
      readonly dims: readonly number[]
      readonly periods: readonly boolean[]
      readonly neighbors:
        | { readonly shape: StencilShape; readonly radius: number }
        | { readonly offsets: readonly (readonly number[])[] }
    }
  | { readonly kind: 'cart'; readonly dims: readonly number[]; readonly periods: readonly boolean[] }
  | { readonly kind: 'er'; readonly ranks: number; readonly density: number; readonly seed: number }
  | {
      readonly kind: 'rgg'
      readonly ranks: number
      readonly radius: number
      readonly dimensions: number
      readonly periodic: boolean
      readonly seed: number
    }
  | {
      readonly kind: 'ws'
      readonly ranks: number
      readonly degree: number
      readonly rewiring: number
      readonly seed: number
    }
  | {
      readonly kind: 'powerlaw'
      readonly ranks: number
      readonly degree: number
      readonly gamma: number
      readonly seed: number
    }
  | {
      readonly kind: 'rmat'
      readonly ranks: number
      readonly degree: number
      readonly quarters: readonly [number, number, number, number]
      readonly seed: number
    }
  | { readonly kind: 'mtx'; readonly file: string; readonly ranks: number }
  | { readonly kind: 'metis' | 'edges'; readonly file: string }
  | ({ readonly kind: 'csv'; readonly file: string } & Omit<CsvOptions, 'file'>)
  | {
      readonly kind: 'graphology'
      readonly file: string
      /** The edge attribute that holds weights; null to ignore weights. Default `weight`. */
      readonly weight?: string | null
    }

/**
 * Reads a topology's line of text:
 * - `moore:64x64:r=4`: Moore neighborhood of radius 4, periodic; `:open` does not wrap
 * - `stencil:64x64:star:r=1`: on a box that does not wrap; `star`, `box` or `diamond`, or `offsets=0,1/1,0`;
 *   `:periodic` or `:periods=1,0` wraps
 * - `cart:8x8x8`: grid; `:periodic` wraps all dimensions, `:periods=1,0,1` some
 * - `er:1024:d=0.2:seed=1`: Erdos-Renyi
 * - `rgg:1024:r=0.1:dim=3:periodic:seed=1`: random geometric; without `dim`, 2
 * - `ws:1024:k=8:p=0.1:seed=1`: small world of 8 neighbors, a tenth of the edges rewired
 * - `powerlaw:1024:d=8:gamma=2.5:seed=1`: power law of mean degree 8
 * - `rmat:1024:d=16:p=0.57,0.19,0.19,0.05:seed=1`: R-MAT
 * - `mtx:FILE:ranks=256`: from the pattern of a Matrix Market file, distributed over 256 ranks
 * - `metis:FILE`, `csv:FILE`, `graphology:FILE`, `edges:FILE`: a graph, one rank per vertex; `csv:FILE:delimiter=tab` (or
 *   `comma`, `semicolon`, `bar`) where the first line does not show it
 *
 * Random families have seed 1 by default. FILE may contain colons. Only the text is read, not the file.
 *
 * @throws ERR_SPEC with what was expected and at which character
 */
export function parseTopologySpec(text: string): TopologySpec {
  requireText('parseTopologySpec', text)
  const colon = text.indexOf(':')
  const reader = new SpecReader(text, colon + 1)
  const kind = colon < 0 ? '' : text.slice(0, colon)
  switch (kind) {
    case 'moore':
      return mooreSpec(reader)
    case 'stencil':
      return stencilSpec(reader)
    case 'cart': {
      const dims = reader.extents()
      const periods = reader.wrapping(dims.length)
      reader.end(periods === null ? "':periodic', ':periods=1,0,...', ':open' or the end" : 'the end')
      return { kind, dims, periods: periods ?? dims.map(() => false) }
    }
    case 'er': {
      const ranks = reader.whole(reader.next('a number of ranks'), 1)
      const density = reader.fraction(reader.option('d') ?? reader.fail("':d=DENSITY'"))
      return { kind, ranks, density, seed: reader.seed() }
    }
    case 'rgg': {
      const ranks = reader.whole(reader.next('a number of ranks'), 1)
      const radius = reader.positive(reader.option('r') ?? reader.fail("':r=RADIUS'"))
      const dim = reader.option('dim')
      const dimensions = dim === null ? 2 : reader.whole(dim, 1)
      return { kind, ranks, radius, dimensions, periodic: reader.flag('periodic'), seed: reader.seed() }
    }
    case 'ws': {
      const ranks = reader.whole(reader.next('a number of ranks'), 1)
      const degree = reader.whole(reader.option('k') ?? reader.fail("':k=NEIGHBORS'"), 1)
      const rewiring = reader.fraction(reader.option('p') ?? reader.fail("':p=PROBABILITY'"))
      return { kind, ranks, degree, rewiring, seed: reader.seed() }
    }
    case 'powerlaw': {
      const ranks = reader.whole(reader.next('a number of ranks'), 1)
      const degree = reader.positive(reader.option('d') ?? reader.fail("':d=DEGREE'"))
      const gamma = reader.option('gamma')
      return {
        kind,
        ranks,
        degree,
        gamma: gamma === null ? 2.5 : reader.positive(gamma),
        seed: reader.seed(),
      }
    }
    case 'rmat': {
      const ranks = reader.whole(reader.next('a number of ranks'), 1)
      const degree = reader.positive(reader.option('d') ?? reader.fail("':d=DEGREE'"))
      const shares = reader.option('p')
      const [a, b, c, d] = shares === null ? graph500Quarters : reader.fractions(shares, 4)
      return { kind, ranks, degree, quarters: [a, b, c, d], seed: reader.seed() }
    }
    case 'mtx': {
      const match = /^(.+):ranks=([^:]*)$/s.exec(text.slice(colon + 1))
      if (match === null) return reader.fail("'FILE:ranks=RANKS'")
      const at = text.length - match[2].length
      return { kind, file: match[1], ranks: reader.whole({ word: match[2], at }, 1) }
    }
    case 'csv': {
      const file = reader.file()
      const match = /^(.+):delimiter=([^:]*)$/s.exec(file)
      if (match === null) return { kind, file }
      const delimiter = Object.hasOwn(delimiterNames, match[2])
        ? delimiterNames[match[2]]
        : reader.fail(`a delimiter: ${Object.keys(delimiterNames).join(', ')}`, text.length - match[2].length)
      return { kind, file: match[1], delimiter }
    }
    case 'metis':
    case 'graphology':
    case 'edges':
      return { kind, file: reader.file() }
    default:
      return new SpecReader(text, 0).fail(
        /\.mtx(\.gz)?$/.test(text)
          ? "'mtx:FILE:ranks=RANKS' for a Matrix Market file"
          : /^[^:]+\.(csv|json|graph|txt|edges|el)(\.gz)?$/.test(text)
            ? "what a file has before its name, such as 'edges:FILE', 'csv:FILE', 'metis:FILE' or 'graphology:FILE'"
            : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`,
      )
  }
}

const words = [
  ...["'moore:'", "'stencil:'", "'cart:'", "'er:'", "'rgg:'", "'ws:'", "'powerlaw:'", "'rmat:'"],
  ...["'mtx:'", "'metis:'", "'csv:'", "'graphology:'", "'edges:'"],
]

function mooreSpec(reader: SpecReader): TopologySpec {
  const dims = reader.extents()
  const radius = reader.option('r') ?? reader.fail("':r=RADIUS'")
  const open = reader.flag('open')
  if (!open) reader.flag('periodic')
  reader.end("':open', ':periodic' or the end")
  return { kind: 'moore', dims, radius: reader.whole(radius, 1), periodic: !open }
}

function stencilSpec(reader: SpecReader): TopologySpec {
  const dims = reader.extents()
  const given = reader.option('offsets')
  const shape = given === null ? (stencilShapes.find((name) => reader.flag(name)) ?? null) : null
  if (given === null && shape === null)
    return reader.fail("':star', ':box', ':diamond' or ':offsets=0,1/1,0/...'")
  const neighbors =
    given !== null
      ? { offsets: reader.offsets(given, dims.length) }
      : { shape: shape!, radius: reader.whole(reader.option('r') ?? reader.fail("':r=RADIUS'"), 1) }
  const periods = reader.wrapping(dims.length)
  reader.end(periods === null ? "':periodic', ':periods=1,0,...', ':open' or the end" : 'the end')
  return { kind: 'stencil', dims, periods: periods ?? dims.map(() => false), neighbors }
}

/** Returns the line of text that {@link parseTopologySpec} reads back to the same specification. */
export function formatTopologySpec(spec: TopologySpec): string {
  requireOptions('formatTopologySpec', spec)
  switch (spec.kind) {
    case 'moore':
      return `moore:${spec.dims.join('x')}:r=${spec.radius}${spec.periodic ? '' : ':open'}`
    case 'stencil': {
      const { neighbors } = spec
      const which =
        'shape' in neighbors
          ? `${neighbors.shape}:r=${neighbors.radius}`
          : `offsets=${neighbors.offsets.map((offset) => offset.join(',')).join('/')}`
      return `stencil:${spec.dims.join('x')}:${which}${wrappingText(spec.periods)}`
    }
    case 'cart':
      return `cart:${spec.dims.join('x')}${wrappingText(spec.periods)}`
    case 'er':
      return `er:${spec.ranks}:d=${spec.density}:seed=${spec.seed}`
    case 'rgg': {
      const space = `${spec.dimensions === 2 ? '' : `:dim=${spec.dimensions}`}${spec.periodic ? ':periodic' : ''}`
      return `rgg:${spec.ranks}:r=${spec.radius}${space}:seed=${spec.seed}`
    }
    case 'ws':
      return `ws:${spec.ranks}:k=${spec.degree}:p=${spec.rewiring}:seed=${spec.seed}`
    case 'powerlaw':
      return `powerlaw:${spec.ranks}:d=${spec.degree}:gamma=${spec.gamma}:seed=${spec.seed}`
    case 'rmat':
      return `rmat:${spec.ranks}:d=${spec.degree}:p=${spec.quarters.join(',')}:seed=${spec.seed}`
    case 'mtx':
      return `mtx:${spec.file}:ranks=${spec.ranks}`
    case 'csv': {
      const name = Object.keys(delimiterNames).find((each) => delimiterNames[each] === spec.delimiter)
      return `csv:${spec.file}${name === undefined ? '' : `:delimiter=${name}`}`
    }
    case 'metis':
    case 'graphology':
    case 'edges':
      return `${spec.kind}:${spec.file}`
  }
}

function wrappingText(periods: readonly boolean[]): string {
  if (periods.every(Boolean)) return ':periodic'
  return periods.some(Boolean) ? `:periods=${periods.map(Number).join(',')}` : ''
}

/** Returns the specification of the same graph as a stencil. */
export function translationSpec(translations: Translations): TopologySpec {
  requireOptions('translationSpec', translations)
  const { dims, periods, offsets, stencil } = translations
  return { kind: 'stencil', dims, periods, neighbors: stencil ?? { offsets } }
}

/** A part of the text, and where it begins. */
interface Word {
  readonly word: string
  readonly at: number
}

/**
 * Reads the parts of a topology's text between colons from left to right.
 * @throws ERR_SPEC with the character
 */
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
      `topology ${shown(this.#text)}, character ${at + 1}: expected ${expected}, got ${rest === '' ? 'the end' : shown(rest)}`,
      { details: { text: shortened(this.#text), at } },
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

  /** Reads the value of `key=value` if that is next. */
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
    if (!Number.isSafeInteger(value) || value < min) this.fail(`an integer of at least ${min}`, at)
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

  /** Reads the rest of the text, which must not be empty. */
  file(): string {
    const file = this.#text.slice(this.#at)
    if (file === '') this.fail('a file name')
    this.#at = this.#text.length + 1
    return file
  }

  /** Reads `:seed=SEED` at the end; returns 1 without it. */
  seed(): number {
    const seed = this.option('seed')
    this.end(seed === null ? "':seed=SEED' or the end" : 'the end')
    return seed === null ? 1 : this.whole(seed, 0)
  }

  /** Parses a decimal number, positive and finite. */
  positive({ word, at }: Word): number {
    const value = /^[\d.]+(e[+-]?\d+)?$/i.test(word) ? Number(word) : Number.NaN
    if (!(value > 0 && value < Infinity)) this.fail('a number above 0', at)
    return value
  }

  /** Parses numbers from 0 to 1 separated by commas. */
  fractions({ word, at }: Word, count: number): number[] {
    const parts = word.split(',')
    if (parts.length !== count) this.fail(`${count} numbers from 0 to 1 separated by commas`, at)
    let next = at
    return parts.map((part) => {
      const value = this.fraction({ word: part, at: next })
      next += part.length + 1
      return value
    })
  }

  /** Reads `:periodic`, `:open` or `:periods=1,0,...`, if one of them is next. */
  wrapping(dims: number): boolean[] | null {
    if (this.flag('periodic')) return new Array<boolean>(dims).fill(true)
    if (this.flag('open')) return new Array<boolean>(dims).fill(false)
    const some = this.option('periods')
    return some === null ? null : this.periods(some, dims)
  }

  /** Parses offsets such as `0,1/1,0`: one integer for each dimension. */
  offsets({ word, at }: Word, dims: number): number[][] {
    let next = at
    return word.split('/').map((part) => {
      const steps = part.split(',')
      if (steps.length !== dims || !steps.every((step) => /^-?\d{1,8}$/.test(step)))
        this.fail(`offsets of ${dims} integers such as '${new Array(dims).fill('1').join(',')}'`, next)
      next += part.length + 1
      return steps.map((step) => Number(step) + 0)
    })
  }
}
