import fc from 'fast-check'
import { buildTopology, dimsCreate, findTranslations, type ProcessTopology } from 'rankweave/topology'
import { afterEach, describe, expect, test, vi } from 'vitest'
import {
  stencilOffsets,
  stencilShapes,
  stencilSize,
  stencilTopology,
} from '../../src/topology/generate/stencil.js'
import { topologyLimits } from '../../src/topology/limits.js'
import { cases } from '../support/soak.js'
import { thrown } from '../unit/topology/thrown.js'

const draws = { count: 0 }
vi.mock('../../src/base/random.js', async (original) => {
  const random = await original<typeof import('../../src/base/random.js')>()
  const mulberry32 = (seed: number) => {
    const next = random.mulberry32(seed)
    return () => {
      draws.count++
      return next()
    }
  }
  return { ...random, mulberry32 }
})

const limits = { ...topologyLimits }

afterEach(() => {
  vi.unstubAllGlobals()
  Object.assign(topologyLimits, limits)
})

/** Fails the test where an array of numbers of that length or more is allocated. */
function refuseArrays(length: number): void {
  const refusing = <T extends Int32ArrayConstructor | Float64ArrayConstructor>(type: T): T =>
    new Proxy(type, {
      construct(target, [first, ...rest]: unknown[], made) {
        if (Number(first) >= length) throw new Error(`an array of ${first} numbers was allocated`)
        return Reflect.construct(target, [first, ...rest], made) as object
      },
    })
  vi.stubGlobal('Int32Array', refusing(Int32Array))
  vi.stubGlobal('Float64Array', refusing(Float64Array))
}

const times = (text: string, count: number) => new Array<string>(count).fill(text).join('x')

describe('a short text that asks for much is refused before an array is allocated', () => {
  test.each([
    ['more than 32 dimensions', `cart:${times('1', 60)}x1000000:periodic`, 'ERR_DIMS'],
    ['more than 32 dimensions', `cart:${times('1', 250)}x1000000:periodic`, 'ERR_DIMS'],
    ['more than 32 dimensions', `moore:${times('1', 33)}:r=1`, 'ERR_DIMS'],
    ['more than 32 dimensions', `stencil:${times('1', 33)}:star:r=1`, 'ERR_DIMS'],
    ['edges of a grid', `cart:${times('2', 20)}`, 'ERR_TOPOLOGY'],
    ['edges of a grid of extents of 1', `cart:${times('1', 31)}x1000000:periodic`, 'ERR_TOPOLOGY'],
    ['edges of a Moore neighborhood', 'moore:1000x1000:r=100', 'ERR_TOPOLOGY'],
    ['edges of a stencil', 'stencil:1000x1000:diamond:r=100', 'ERR_TOPOLOGY'],
    ['offsets of a stencil', 'stencil:1x1x1:star:r=1000000', 'ERR_DIMS'],
    ['offsets of a stencil', 'stencil:1x1:box:r=1000', 'ERR_DIMS'],
    ['edges of a random graph', 'er:65536:d=0.9', 'ERR_TOPOLOGY'],
    ['ranks of a random graph', 'er:65537:d=0', 'ERR_TOPOLOGY'],
    ['edges of a geometric graph', 'rgg:1000000:r=0.5', 'ERR_TOPOLOGY'],
    ['edges of a small world', 'ws:1000000:k=1000:p=0', 'ERR_TOPOLOGY'],
    ['edges of a power law', 'powerlaw:1000000:d=1000', 'ERR_TOPOLOGY'],
    ['edges of R-MAT', 'rmat:1048576:d=17', 'ERR_TOPOLOGY'],
    ['ranks of a matrix', 'mtx:nothing:ranks=99999999', 'ERR_TOPOLOGY'],
  ])('%s: %s', (_what, text, code) => {
    Object.assign(topologyLimits, { ranks: 2 ** 20, edges: 2 ** 24 })
    refuseArrays(1 << 10)
    const open = () => ({ sizeBytes: 0, read: () => 0, close: () => {} })
    expect(thrown(() => buildTopology(text, { open }))).toMatchObject({ code })
  })

  test('extents of more than 32 dimensions', () => {
    expect(thrown(() => dimsCreate(1, 1e9))).toMatchObject({ code: 'ERR_DIMS' })
    expect(dimsCreate(2 ** 20, 32)).toHaveLength(32)
  })
})

/** The draws that an act takes. */
function drawsOf(act: () => unknown): number {
  draws.count = 0
  act()
  return draws.count
}

test.each([
  ['few edges among many pairs', 'er:65536:d=0.00001', 43_000],
  ['a density below that of one draw', 'er:65536:d=1e-300', 0],
  ['a small world with two free ranks for each', 'ws:515:k=512:p=1', 515 * 256],
  ['a small world with one free rank for each', 'ws:256:k=254:p=0.5', 256 * 127],
])('random numbers are drawn for edges only: %s', (_, text, edges) => {
  expect(drawsOf(() => buildTopology(text))).toBeLessThanOrEqual(32 * edges)
})

test('offsets that are too many for a stencil do not end the search for grids', () => {
  const far = [
    [0, 3000],
    [1, 0],
  ]
  const topology = stencilTopology({ dims: [3, 3001], offsets: far })
  expect(findTranslations(topology)).toMatchObject({ kind: 'invariant', stencil: null })
})

/**
 * The number of edges that bounds a topology, as its generator counts it: the least limit that it passes.
 * The most below are 4^4 ranks with 7^4 - 1 neighbors each, 614,400.
 */
function countedEdges(build: () => ProcessTopology): number {
  let [refused, passed] = [-1, 2 ** 20]
  while (passed - refused > 1) {
    const middle = Math.floor((refused + passed) / 2)
    Object.assign(topologyLimits, { edges: middle })
    try {
      build()
      passed = middle
    } catch (error) {
      expect(error).toMatchObject({ code: 'ERR_TOPOLOGY' })
      refused = middle
    }
  }
  return passed
}

const extents = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 4 })
const seeds = fc.integer({ min: 0, max: 1000 })
const wraps = fc.constantFrom(':periodic', ':open')

/** Whether the count is that of the edges, or a bound of them. */
const generators: Readonly<Record<string, readonly ['exact' | 'bound', fc.Arbitrary<string>]>> = {
  cart: ['exact', fc.tuple(extents, wraps).map(([dims, wrap]) => `cart:${dims.join('x')}${wrap}`)],
  moore: [
    'bound',
    fc
      .tuple(extents, fc.integer({ min: 1, max: 3 }), wraps)
      .map(([dims, radius, wrap]) => `moore:${dims.join('x')}:r=${radius}${wrap}`),
  ],
  stencil: [
    'bound',
    fc
      .tuple(extents, fc.constantFrom(...stencilShapes), fc.integer({ min: 1, max: 2 }), wraps)
      .map(([dims, shape, radius, wrap]) => `stencil:${dims.join('x')}:${shape}:r=${radius}${wrap}`),
  ],
  er: [
    'bound',
    fc
      .tuple(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 0, max: 10 }), seeds)
      .map(([ranks, tenths, seed]) => `er:${ranks}:d=${tenths / 10}:seed=${seed}`),
  ],
  rgg: [
    'bound',
    fc
      .tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 3 }), seeds)
      .map(([ranks, dimensions, seed]) => `rgg:${ranks}:r=0.4:dim=${dimensions}:seed=${seed}`),
  ],
  ws: [
    'exact',
    fc
      .tuple(fc.integer({ min: 5, max: 30 }), seeds)
      .map(([ranks, seed]) => `ws:${ranks}:k=4:p=0.3:seed=${seed}`),
  ],
  powerlaw: [
    'bound',
    fc
      .tuple(fc.integer({ min: 4, max: 40 }), seeds)
      .map(([ranks, seed]) => `powerlaw:${ranks}:d=3:seed=${seed}`),
  ],
  rmat: [
    'bound',
    fc
      .tuple(fc.integer({ min: 0, max: 6 }), seeds)
      .map(([scale, seed]) => `rmat:${2 ** scale}:d=3:seed=${seed}`),
  ],
}

const manyEdges: Readonly<Record<string, [string][]>> = {
  moore: [['moore:4x4x4x4:r=3:periodic']],
  stencil: [['stencil:4x4x4x4:box:r=2:periodic']],
}

test.each(Object.entries(generators))('%s counts no fewer edges than it makes', (name, [kind, texts]) => {
  fc.assert(
    fc.property(texts, (text) => {
      Object.assign(topologyLimits, limits)
      const edges = buildTopology(text).outRank.length
      const counted = countedEdges(() => buildTopology(text))
      if (kind === 'exact') expect(counted).toBe(edges)
      else expect(counted).toBeGreaterThanOrEqual(edges)
    }),
    { numRuns: cases(30), examples: manyEdges[name] ?? [] },
  )
})

test('a power law of an odd number of half edges counts those that it draws', () => {
  Object.assign(topologyLimits, limits)
  const text = 'powerlaw:9:d=3:seed=661'
  expect(countedEdges(() => buildTopology(text))).toBe(28)
  expect(buildTopology(text).outRank.length).toBe(28)
})

test.each(stencilShapes)('the formula for offsets of %s is how many there are', (shape) => {
  for (let dimensions = 1; dimensions <= 5; dimensions++)
    for (let radius = 1; radius <= 4; radius++)
      expect(stencilSize(shape, dimensions, radius)).toBe(stencilOffsets(shape, dimensions, radius).length)
})
