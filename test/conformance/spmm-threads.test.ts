import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { readMatrixMarket, run, serialProduct } from 'rankweave'
import { expect, it } from 'vitest'
import { denseFor, type Products } from '../support/threads-matrices.js'

const folder = new URL('../../../shared/data/', import.meta.url)
const files = readdirSync(folder)
  .filter((name) => name.endsWith('.mtx'))
  .map((name) => fileURLToPath(new URL(name, folder)))
const strategies = ['direct', 'common-neighbor:k=2,theta=0']
const columns = 4

it.each([1, 2, 4])('all matrices times dense, exactly, on %i threads', async (processes) => {
  expect(files).toHaveLength(8)
  const results = await run<Float64Array[], Products>(
    new URL('../support/threads-matrices.ts', import.meta.url),
    {
      ranks: 16,
      fabric: 'threads',
      processes,
      args: { files, strategies, columns },
    },
  )
  let at = 0
  for (const file of files) {
    const a = readMatrixMarket(file)
    const expected = serialProduct(a, denseFor(a.cols, columns).values, columns)
    for (const strategy of strategies) {
      const product = results.flatMap((products) => [...products[at]!])
      // toEqual compares elements with Object.is: the same bits.
      expect(Float64Array.from(product), `${file} by ${strategy}`).toEqual(expected)
      at++
    }
  }
})
