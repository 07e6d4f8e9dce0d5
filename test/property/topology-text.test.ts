import fc from 'fast-check'
import { builtInProfiles, checkMachine, formatMachine, type Machine, parseMachine } from 'rankweave/machine'
import { describe, expect, test } from 'vitest'
import { isRankweaveError } from '../../src/errors.js'
import { nodesOf } from '../../src/machine/nodes.js'
import { parseEdgeList } from '../../src/topology/files/edge-list.js'
import {
  formatTopologySpec,
  parseTopologySpec,
  type TopologySpec,
} from '../../src/topology/files/spec-text.js'
import { stencilShapes } from '../../src/topology/generate/stencil.js'
import { cases } from '../support/soak.js'

const dims = fc.array(fc.integer({ min: 1, max: 10_000 }), { minLength: 1, maxLength: 5 })
const ranks = fc.integer({ min: 1 })
const fraction = fc.double({ min: 0, max: 1, noNaN: true }).map((d) => d + 0)
const positive = fc.double({ min: 1e-300, max: 1e300, noNaN: true })
const file = fc.oneof(
  fc.string({ minLength: 1, unit: 'binary' }),
  fc
    .array(fc.constantFrom(':', 'C', '\\', 'ranks=4', ':ranks=', '\n', ' '), { minLength: 1 })
    .map((p) => p.join('')),
)

const specs: fc.Arbitrary<TopologySpec> = fc.oneof(
  fc.record({ kind: fc.constant('moore' as const), dims, radius: ranks, periodic: fc.boolean() }),
  fc.record({
    kind: fc.constant('er' as const),
    ranks,
    density: fraction,
    seed: fc.nat(),
  }),
  dims.chain((extents) =>
    fc.record({
      kind: fc.constant('cart' as const),
      dims: fc.constant(extents),
      periods: fc.array(fc.boolean(), { minLength: extents.length, maxLength: extents.length }),
    }),
  ),
  dims.chain((extents) =>
    fc.record({
      kind: fc.constant('stencil' as const),
      dims: fc.constant(extents),
      periods: fc.array(fc.boolean(), { minLength: extents.length, maxLength: extents.length }),
      neighbors: fc.oneof(
        fc.record({ shape: fc.constantFrom(...stencilShapes), radius: ranks }),
        fc.record({
          offsets: fc.array(
            fc.array(fc.integer({ min: -99, max: 99 }), {
              minLength: extents.length,
              maxLength: extents.length,
            }),
            { minLength: 1, maxLength: 5 },
          ),
        }),
      ),
    }),
  ),
  fc.record({
    kind: fc.constant('rgg' as const),
    ranks,
    radius: positive,
    dimensions: fc.integer({ min: 1, max: 3 }),
    periodic: fc.boolean(),
    seed: fc.nat(),
  }),
  fc.record({
    kind: fc.constant('ws' as const),
    ranks,
    degree: ranks,
    rewiring: fraction,
    seed: fc.nat(),
  }),
  fc.record({
    kind: fc.constant('powerlaw' as const),
    ranks,
    degree: positive,
    gamma: positive,
    seed: fc.nat(),
  }),
  fc.record({
    kind: fc.constant('rmat' as const),
    ranks,
    degree: positive,
    quarters: fc.tuple(fraction, fraction, fraction, fraction),
    seed: fc.nat(),
  }),
  fc.record({ kind: fc.constant('mtx' as const), file, ranks }),
  fc.record({
    kind: fc.constantFrom('metis' as const, 'csv' as const, 'graphology' as const, 'edges' as const),
    file,
  }),
)

const nodeCores = fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 3 })
const machines: fc.Arbitrary<Machine> = fc
  .oneof(
    fc.record({ kind: fc.constant('cluster' as const), nodes: fc.integer({ min: 1, max: 20 }) }),
    fc
      .array(fc.record({ extent: fc.integer({ min: 1, max: 4 }), wrap: fc.boolean() }), {
        minLength: 1,
        maxLength: 3,
      })
      .map((dims) => ({
        kind: 'torus' as const,
        dims: dims.map(({ extent }) => extent),
        wraps: dims.map(({ wrap }) => wrap),
        nodes: dims.reduce((product, { extent }) => product * extent, 1),
      })),
    fc
      .record({
        half: fc.integer({ min: 1, max: 4 }),
        levels: fc.integer({ min: 2, max: 3 }),
        nodes: fc.integer({ min: 1, max: 4 }),
      })
      .chain(({ half, levels, nodes }) =>
        fc.integer({ min: 1, max: 2 * half - 1 }).map((nodesPerLeaf) => ({
          ...{ kind: 'clos' as const, radix: 2 * half, levels, nodesPerLeaf },
          nodes: Math.min(nodes, nodesPerLeaf),
        })),
      ),
  )
  .chain(({ nodes, ...shape }) =>
    fc
      .record({
        packages: fc.array(nodeCores, { minLength: nodes, maxLength: nodes }),
        profile: fc.constantFrom(null, ...builtInProfiles),
      })
      .map(({ packages, profile }) => ({
        ...shape,
        ...nodesOf(packages.map((cores) => ({ nodes: 1, packages: cores }))),
        profile,
      })),
  )

describe('text forms round-trip', () => {
  test('topology specifications', () => {
    fc.assert(
      fc.property(specs, (spec) => {
        expect(parseTopologySpec(formatTopologySpec(spec))).toEqual(spec)
      }),
      { numRuns: cases(1000) },
    )
  })

  test('machines', () => {
    fc.assert(
      fc.property(machines, (machine) => {
        checkMachine(machine)
        expect(parseMachine(formatMachine(machine))).toEqual(machine)
      }),
      { numRuns: cases(500) },
    )
  })
})

describe('malformed text is rejected with a code, or parsed', () => {
  const mutated = (texts: readonly string[]) =>
    fc
      .tuple(fc.constantFrom(...texts), fc.nat(40), fc.nat(4), fc.string({ maxLength: 4 }))
      .map(([text, at, cut, insert]) => text.slice(0, at) + insert + text.slice(at + cut))

  test.each([
    [
      'topology',
      parseTopologySpec,
      'ERR_SPEC',
      [
        'moore:8x8:r=1:open',
        'er:64:d=0.2:seed=1',
        'cart:8x8:periods=1,0',
        'mtx:a:b:ranks=8',
        'stencil:4x4:offsets=0,1/1,-1:periodic',
        'rgg:64:r=0.1:dim=3:seed=1',
        'rmat:8:d=2:p=0.5,0.5,0,0',
      ],
    ],
    [
      'machine',
      parseMachine,
      'ERR_MACHINE',
      [
        'cluster:nodes=3,cores=4,profile=simgrid-slow',
        'cluster:cores=2x4+16+8,packages=2',
        'torus:dims=4x2x3,wrap=101,cores=2',
        'clos:radix=8,levels=2,taper=5:3,nodes=9',
      ],
    ],
    ['edge list', parseEdgeList, 'ERR_TOPOLOGY', ['ranks 4\n0 1 2.5 # x\n3 0 1\n', '0 1\n1 0\n']],
  ] as const)('%s', (_, parse, code, texts) => {
    fc.assert(
      fc.property(mutated(texts), (text) => {
        try {
          parse(text)
        } catch (error) {
          if (!isRankweaveError(error, code)) throw error
        }
      }),
      { numRuns: cases(1000) },
    )
  })
})
