import { expect, test } from 'vitest'
import { topologyFromMatrixMarket } from '../../../../src/topology/files/matrix-market.js'
import { outNeighbors } from '../../../../src/topology/neighbors.js'
import { refusal } from '../../../support/refusal.js'

const ranks = 3

/** A 3 x 3 matrix with two entries off the diagonal: ranks 1 and 2 send to rank 0. */
const withValues = (field: string, first: string, second: string, lineEnd = '\n') =>
  [`%%MatrixMarket matrix coordinate ${field} general`, '3 3 2', `1 2 ${first}`, `1 3 ${second}`].join(
    lineEnd,
  )

test.each([
  ['infinite values', withValues('real', 'inf', '-Infinity')],
  ['values that are not numbers', withValues('real', 'nan', 'NaN')],
  ['complex values that are not numbers', withValues('complex', 'nan 0', 'inf nan')],
  ['unsigned integers', withValues('unsigned-integer', '7', '18446744073709551615')],
  ['integers that no double holds', withValues('integer', '9007199254740993', '-99999999999999999999')],
  ['lines that end with carriage returns', withValues('real', '1', '2', '\r')],
])('topologyFromMatrixMarket takes %s, since only the places count', (_, text) => {
  const topology = topologyFromMatrixMarket(text, { ranks })
  expect([0, 1, 2].map((rank) => [...outNeighbors(topology, rank)])).toEqual([[], [0], [0]])
})

test.each([
  ['no value', withValues('real', '', '1'), '3:5: expected a value, got the end of the line'],
  ['a value too many', withValues('integer', '1 2', '1'), "3:7: expected the end of the line, got '2'"],
  [
    'half of a complex value',
    withValues('complex', '1', '1'),
    '3:6: expected a value, got the end of the line',
  ],
])('topologyFromMatrixMarket rejects %s', (_, text, message) => {
  expect(() => topologyFromMatrixMarket(text, { ranks, file: 'm' })).toThrow(
    refusal('ERR_MATRIX_MARKET', `m:${message}`),
  )
})
