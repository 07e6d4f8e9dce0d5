import { run } from 'rankweave'
import { expect, it } from 'vitest'
import { serialProduct } from '../../src/spmm/serial.js'
import { compiledUrl } from '../support/compiled.js'
import { matrixNames, readMatrix } from '../support/matrices.js'
import { isSoak } from '../support/soak.js'
import { denseFor, type Products } from '../support/threads-matrices.js'

const strategies = ['direct', 'common-neighbor:k=2,theta=0']
const columns = 4

// On 1 thread in `npm run soak`.
it.each(!isSoak ? [2, 4] : [1, 2, 4])(
  'every real matrix times a dense matrix on %i threads equals the serial product bit by bit',
  async (processes) => {
    expect(matrixNames).toHaveLength(8)
    const results = await run<Float64Array[], Products>(compiledUrl('threads-matrices.ts'), {
      ranks: 16,
      fabric: 'threads',
      processes,
      args: { names: matrixNames, strategies, columns },
    })
    let at = 0
    for (const name of matrixNames) {
      const a = readMatrix(name)
      const expected = serialProduct(a, denseFor(a.cols, columns).values, columns)
      for (const strategy of strategies) {
        const product = results.flatMap((products) => [...products[at]])
        // toEqual compares elements with Object.is: the same bits.
        expect(Float64Array.from(product), `${name} by ${strategy}`).toEqual(expected)
        at++
      }
    }
  },
)
