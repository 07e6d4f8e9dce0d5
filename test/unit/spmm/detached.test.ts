import { setImmediate as turn } from 'node:timers/promises'
import { local, run } from 'rankweave'
import { expect, it } from 'vitest'
import { allgatherExchange, SparseProduct } from '../../../src/spmm/sparse-product.js'

const size = 4

it.each([
  ...(['b', 'into', 'A'] as const).map((which) => [which, 'in a later turn'] as const),
  ...(['b', 'into', 'A'] as const).map((which) => [which, 'at once'] as const),
])('a product whose %s is detached %s while it is computed fails on all ranks', async (which, when) => {
  const codes = await run(
    async (world) => {
      const { rank } = world
      const values = Float64Array.from({ length: size }, () => 1)
      const block = {
        ...{ rows: 1, cols: size, field: 'real', symmetry: 'general' },
        ...{ rowStart: Int32Array.of(0, size), colIndex: Int32Array.of(0, 1, 2, 3), values },
      } as never
      const owners = Int32Array.of(0, 1, 2, 3, 4)
      const rows = { rows: size, cols: size, firstRow: rank, block } as never
      const product = new SparseProduct(rows, owners, rank, 3, 1, allgatherExchange(world))
      const b = new Float64Array(3).fill(rank)
      const into = new Float64Array(3)
      const ended = product.multiply(b, into).then(
        () => 'done',
        ({ code }) => code,
      )
      if (when === 'in a later turn') await turn()
      if (rank === 2) {
        const { buffer } = which === 'b' ? b : which === 'into' ? into : values
        structuredClone(buffer, { transfer: [buffer] })
      }
      return ended
    },
    { ranks: size, fabric: local({ processes: size }) },
  )
  expect(codes).toEqual(Array(size).fill('ERR_TYPE'))
})
