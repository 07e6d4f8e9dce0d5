import { run } from 'rankweave'
import { expect, it } from 'vitest'
import { serialProduct } from '../../src/spmm/dense-matrix.js'
import { compiledUrl } from '../support/compiled.js'
import { matrixNames, readMatrix } from '../support/matrices.js'
import { denseFor, type Products } from '../support/threads-matrices.js'

const strategies = ['direct', 'common-neighbor:k=2,theta=0']
const columns = 4

it('every real matrix times a dense matrix on 3 threads equals the serial product bit by bit', async () => {
  expect(matrixNames).toHaveLength(8)
  const results = await run<Float64Array[], Products>(compiledUrl('threads-matrices.ts'), {
    ...{ ranks: 16, fabric: 'threads', processes: 3, args: { names: matrixNames, strategies, columns } },
  })
  const expected = matrixNames.flatMap((name) => {
    const a = readMatrix(name)
    const product = serialProduct(a, denseFor(a.cols, columns).values, columns)
    return strategies.map((strategy) => ({ name, strategy, product }))
  })
  for (const [at, { name, strategy, product }] of expected.entries()) {
    const made = results.flatMap((products) => [...products[at]!])
    // toEqual compares elements with Object.is: the same bits.
    expect(Float64Array.from(made), `${name} by ${strategy}`).toEqual(product)
  }
})
