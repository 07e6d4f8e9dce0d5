import fc from 'fast-check'
import { buildTopology, findTranslations, stencilTopology } from 'rankweave/topology'
import { expect, test } from 'vitest'
import { translationSpec } from '../../src/topology/files/spec-text.js'
import { distinctOut } from '../../src/topology/neighbors.js'
import { cases } from '../support/soak.js'

const stencils = fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 3 }).chain((dims) =>
  fc.record({
    dims: fc.constant(dims),
    periods: fc.array(fc.boolean(), { minLength: dims.length, maxLength: dims.length }),
    offsets: fc.array(fc.tuple(...dims.map((extent) => fc.integer({ min: -extent, max: extent }))), {
      maxLength: 8,
    }),
  }),
)

test('findTranslations finds every stencil, and its specification builds the same graph', () => {
  fc.assert(
    fc.property(stencils, (stencil) => {
      const topology = stencilTopology(stencil)
      const found = findTranslations(topology)
      if (found.kind !== 'invariant') throw new Error(found.kind)
      expect(found.dims.length).toBeLessThanOrEqual(Math.max(1, stencil.dims.filter((d) => d > 1).length))
      expect(distinctOut(buildTopology(translationSpec(found)))).toEqual(distinctOut(topology))
    }),
    { numRuns: cases(500) },
  )
})
