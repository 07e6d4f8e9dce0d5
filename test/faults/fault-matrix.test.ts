import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { errorCodes } from '../../src/errors.js'
import { titleOf } from '../support/faults/fault-end.js'
import { faultMatrixPage } from '../support/faults/fault-matrix-page.js'
import { faultRows, operations, quarterOf, rowsOf } from '../support/faults/fault-rows.js'

it('the page is that of the table; if not, npm run docs:faults', () => {
  const page = readFileSync(new URL('../../docs/fault-matrix.md', import.meta.url), 'utf8')
  expect(page).toBe(faultMatrixPage())
})

it('every combination is there once, with codes that exist', () => {
  const names = faultRows.map((row) => `${row.fabric} ${titleOf(row)}`)
  expect(new Set(names).size).toBe(names.length)
  const known = new Set<string>(errorCodes)
  for (const { code, others, shrink, run } of faultRows) {
    for (const each of [code, others, shrink, run]) {
      if (typeof each === 'string' && each.startsWith('ERR_')) expect(known).toContain(each)
    }
  }
})

it.each(['threads', 'websocket', 'mpi'] as const)(
  'the quarters of the rows of %s have all rows, and each quarter every operation',
  (fabric) => {
    const all = rowsOf(fabric)
    const quarters = [0, 1, 2, 3].map((nth) => quarterOf(all, nth))
    expect(new Set(quarters.flat())).toEqual(new Set(all))
    for (const quarter of quarters) {
      const met = new Set(quarter.map(({ operation }) => operation))
      expect(operations.filter((operation) => !met.has(operation))).toEqual([])
    }
  },
)
