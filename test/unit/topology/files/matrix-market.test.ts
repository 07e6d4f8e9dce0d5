import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { formatMatrixMarket, type SparseMatrix, sourceOf } from 'rankweave/topology'
import { describe, expect, test } from 'vitest'
import { parseMatrixMarket, readMatrixMarket } from '../../../../src/topology/files/matrix-market.js'
import { pipeOf } from '../../../support/sources.js'
import { expectRefusal, thrown } from '../thrown.js'

/** Stored entries as [row, column, value] or [row, column, real, imaginary], 0-based, in order. */
function entriesOf({ rows, rowStart, colIndex, values, imag }: SparseMatrix): number[][] {
  const entries: number[][] = []
  for (let i = 0; i < rows; i++)
    for (let e = rowStart[i]; e < rowStart[i + 1]; e++)
      entries.push([i, colIndex[e], values[e], ...(imag === null ? [] : [imag[e]])])
  return entries
}

function matrix(header: string, ...lines: string[]): string {
  return [`%%MatrixMarket matrix ${header}`, ...lines, ''].join('\n')
}

describe('parseMatrixMarket, coordinate', () => {
  test('real general: entries in any order become ascending rows, zeros are stored', () => {
    const parsed = parseMatrixMarket(
      matrix(
        'coordinate real general',
        '% a comment',
        '',
        '3 4 4',
        '3 4 -1.5e-2',
        '1 2 0',
        '3 1 .5',
        '1 1 7.',
      ),
    )
    expect([parsed.rows, parsed.cols]).toEqual([3, 4])
    expect(parsed.rowStart).toEqual(Int32Array.of(0, 2, 2, 4))
    expect(entriesOf(parsed)).toEqual([
      [0, 0, 7],
      [0, 1, 0],
      [2, 0, 0.5],
      [2, 3, -0.015],
    ])
  })

  test('repeated entries are summed in file order', () => {
    const parsed = parseMatrixMarket(
      matrix('coordinate real general', '1 1 3', '1 1 1e100', '1 1 1', '1 1 -1e100'),
    )
    expect(entriesOf(parsed)).toEqual([[0, 0, 0]])
  })

  test('keywords in any case, tabs, carriage returns, comments anywhere, no newline at the end, bytes', () => {
    const text =
      '%%MatrixMarket MATRIX Coordinate REAL General\r\n%x\r\n\t2 \t2 2\r\n1\t1 1\r\n  % y\r\n\r\n2 2 2'
    expect(entriesOf(parseMatrixMarket(new TextEncoder().encode(text)))).toEqual([
      [0, 0, 1],
      [1, 1, 2],
    ])
  })

  test('an empty matrix', () => {
    expect(parseMatrixMarket(matrix('coordinate real general', '0 0 0')).rowStart).toEqual(Int32Array.of(0))
    expect(parseMatrixMarket(matrix('coordinate real general', '2 0 0')).rowStart).toEqual(
      Int32Array.of(0, 0, 0),
    )
  })
})

describe('parseMatrixMarket, array', () => {
  test('real general: column by column, zeros are not stored', () => {
    expect(
      entriesOf(parseMatrixMarket(matrix('array real general', '2 3', '1', '2', '0', '4', '5', '-0'))),
    ).toEqual([
      [0, 0, 1],
      [0, 2, 5],
      [1, 0, 2],
      [1, 1, 4],
    ])
  })

  test('symmetric: the lower triangle', () => {
    expect(entriesOf(parseMatrixMarket(matrix('array integer symmetric', '2 2', '1', '2', '3')))).toEqual([
      [0, 0, 1],
      [0, 1, 2],
      [1, 0, 2],
      [1, 1, 3],
    ])
  })

  test('skew-symmetric: strictly below the diagonal', () => {
    expect(entriesOf(parseMatrixMarket(matrix('array real skew-symmetric', '3 3', '1', '2', '3')))).toEqual([
      [0, 1, -1],
      [0, 2, -2],
      [1, 0, 1],
      [1, 2, -3],
      [2, 0, 2],
      [2, 1, 3],
    ])
  })

  test('complex hermitian', () => {
    expect(
      entriesOf(parseMatrixMarket(matrix('array complex hermitian', '2 2', '1 0', '0 2', '0 0'))),
    ).toEqual([
      [0, 0, 1, 0],
      [0, 1, 0, -2],
      [1, 0, 0, 2],
    ])
  })
})

describe('parseMatrixMarket rejects, with file, line and column', () => {
  const real = 'coordinate real general'
  test.each([
    ['', "1:1 a header such as '%%MatrixMarket matrix coordinate real general', got an empty file"],
    ['1 1 1\n', "1:1 a header such as '%%MatrixMarket matrix coordinate real general', got '1'"],
    [matrix(''), "1:23 'coordinate', 'array', got the end of the line"],
    ['%%MatrixMarket vector coordinate real general\n', "1:16 'matrix', got 'vector'"],
    [matrix('dense real general'), "1:23 'coordinate', 'array', got 'dense'"],
    [
      matrix('coordinate double general'),
      "1:34 'real', 'integer', 'pattern', 'complex', 'unsigned-integer', got 'double'",
    ],
    [matrix('coordinate real triangular'), "1:39 'general', 'symmetric', 'skew-symmetric', 'hermitian'"],
    [matrix('coordinate real general x'), "1:47 the header to end, got 'x'"],
    [matrix('array pattern general'), "1:29 coordinate format for a pattern, got 'array'"],
    [matrix('coordinate real hermitian'), "1:39 complex entries for a hermitian matrix, got 'real'"],
    [matrix('coordinate pattern skew-symmetric'), '1:42 entries with values for a skew-symmetric matrix'],
    [matrix(real, '% nothing'), "2:10 a line 'ROWS COLUMNS ENTRIES', got the end of the file"],
    [matrix(real, '2 2'), '2:4 the number of entries from 0 to 134217728, got the end of the line'],
    [matrix(real, '2 x 1'), "2:3 the number of columns from 0 to 33554432, got 'x'"],
    [matrix(real, '-2 2 1'), "2:1 the number of rows from 0 to 33554432, got '-2'"],
    [matrix(real, '2 2 1.5'), "2:5 the number of entries from 0 to 134217728, got '1.5'"],
    [matrix(real, '2 2 1 7', '1 1 1'), "2:7 the end of the line, got '7'"],
    [matrix(real, '100000000000 2 1'), "2:1 got '100000000000'"],
    [matrix(real, '2 2 100000000', '1 1 1'), '2:1 100000000 entries, got only 6 bytes after this line'],
    [matrix(real, '0 2 1', '1 1 1'), '2:1 no entries in a matrix of 0 x 2, got 1'],
    [matrix('coordinate real symmetric', '2 3 0'), '2:1 as many columns as rows in a symmetric matrix'],
    [matrix(real, '2 2 2', '', '1 1 1'), '4:6 2 entries, got the end of the file after 1'],
    [matrix(real, '2 2 1', '1 1 1', '', '2 2 1'), '5:1 the end of the file after 1 entries, got another'],
    [matrix(real, '2 2 1', '3 1 1'), "3:1 a row from 1 to 2, got '3'"],
    [matrix(real, '2 2 1', '0 1 1'), "3:1 a row from 1 to 2, got '0'"],
    [matrix(real, '2 2 1', '1 3 1'), "3:3 a column from 1 to 2, got '3'"],
    [matrix(real, '2 2 1', '1.0 1 1'), "3:1 a row from 1 to 2, got '1.0'"],
    [matrix(real, '2 2 1', '1'), '3:2 a column from 1 to 2, got the end of the line'],
    [matrix(real, '2 2 1', '1 1'), '3:4 a number, got the end of the line'],
    [matrix(real, '2 2 1', '1 1 x'), "3:5 a number, got 'x'"],
    [matrix(real, '2 2 1', '1 1 nan'), "3:5 a number, got 'nan'"],
    [matrix(real, '2 2 1', '1 1 1e999'), "3:5 a number that a double can hold, got '1e999'"],
    [matrix(real, '2 2 1', '1 1 0x10'), "3:5 a number, got '0x10'"],
    [matrix(real, '2 2 1', '1 1 1 1'), "3:7 the end of the line, got '1'"],
    [matrix('coordinate integer general', '2 2 1', '1 1 1.5'), "3:5 an integer, got '1.5'"],
    [
      matrix('coordinate integer general', '2 2 1', '1 1 9007199254740993'),
      '3:5 an integer of at most 2^53 - 1',
    ],
    [matrix('coordinate pattern general', '2 2 1', '1 1 1'), "3:5 the end of the line, got '1'"],
    [matrix('coordinate complex general', '2 2 1', '1 1 1'), '3:6 an imaginary part, got the end of'],
    [
      matrix('coordinate real symmetric', '2 2 1', '1 2 1'),
      '3:1 only entries on or below the diagonal of a symmetric matrix, got one at row 1, column 2',
    ],
    [
      matrix('coordinate real skew-symmetric', '2 2 1', '2 2 0'),
      '3:1 no diagonal entries in a skew-symmetric matrix, got one at row 2, column 2',
    ],
    [
      matrix('coordinate complex hermitian', '2 2 1', '2 2 1 1'),
      '3:7 a real diagonal in a hermitian matrix, got imaginary part 1 at row 2, column 2',
    ],
    [matrix('array real general', '2 2', '1', '2', '3'), '5:2 4 entries, got the end of the file after 3'],
    [matrix('array real general', '1 1', '1', '2'), '4:1 the end of the file after 1 entries'],
    [matrix('array real general', '1 2', '1 2', ''), "3:3 the end of the line, got '2'"],
    [matrix('array real general', '20000 20000', '1'), '2:1 at most 134217728 entries, got 20000 x 20000'],
    [matrix('array complex hermitian', '1 1', '1 1'), '3:3 a real diagonal'],
  ])('%j: %s', (text, at) => expectRefusal(() => parseMatrixMarket(text, 'f'), 'ERR_MATRIX_MARKET', at))
})

test('formatMatrixMarket writes what parseMatrixMarket reads', () => {
  const parsed = parseMatrixMarket(
    matrix('coordinate complex hermitian', '3 3 2', '2 1 0.1 -0', '3 1 1e-300 12345678901234567'),
  )
  const text = formatMatrixMarket(parsed, { comment: 'two\nlines' })
  expect(text.split('\n').slice(0, 4)).toEqual([
    '%%MatrixMarket matrix coordinate complex general',
    '% two',
    '% lines',
    '3 3 4',
  ])
  expect(parseMatrixMarket(text)).toEqual(parsed)
  expect(entriesOf(parseMatrixMarket(formatMatrixMarket(parsed, { pattern: true })))).toEqual([
    [0, 1, 1],
    [0, 2, 1],
    [1, 0, 1],
    [2, 0, 1],
  ])
})

test('readMatrixMarket reads a file, and names one that it cannot read', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rankweave-'))
  const path = join(folder, 'm.mtx')
  writeFileSync(path, matrix('coordinate real general', '1 1 1', '1 1 0.25'))
  expect(entriesOf(readMatrixMarket(path))).toEqual([[0, 0, 0.25]])
  rmSync(folder, { recursive: true })
  const error = thrown(() => readMatrixMarket(path))
  expect(error.code).toBe('ERR_FILE')
  expect(error.details).toEqual({ file: path })
  expect(error.message).toContain(`cannot read '${path}'`)
})

test('readMatrixMarket reads bytes, compressed ones too, and sources, which it closes', () => {
  const text = matrix('coordinate real general', '1 1 1', '1 1 0.25')
  const bytes = new TextEncoder().encode(text)
  let closed = 0
  const source = { ...sourceOf(text), close: () => closed++ }
  for (const from of [bytes, gzipSync(bytes), source]) {
    expect(entriesOf(readMatrixMarket(from))).toEqual([[0, 0, 0.25]])
  }
  expect(closed).toBe(1)
  expect(thrown(() => readMatrixMarket(sourceOf('none'), { file: 'a.mtx' })).message).toMatch(/^a\.mtx:1:1/)
  expect(thrown(() => readMatrixMarket(null as never)).code).toBe('ERR_ARGUMENT')
})

test('parseMatrixMarket allocates only for entries that exist, whatever the size line promises', () => {
  const text = matrix('coordinate real general', '3 3 134217728', '1 1 1', '2 2 2')
  const before = process.memoryUsage().arrayBuffers
  const error = thrown(() => parseMatrixMarket(pipeOf(text, 7), 'm.mtx'))
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(2 ** 25)
  expect(error.message).toBe('m.mtx:4:6: expected 134217728 entries, got the end of the file after 2')
})

test('parseMatrixMarket of a pipe of unknown length yields the same matrix', () => {
  const entries = Array.from({ length: 70_000 }, (_, e) => `${1 + (e % 300)} ${1 + ((e * 7) % 5000)} ${e}`)
  const text = matrix('coordinate integer general', `300 5000 ${entries.length}`, ...entries)
  expect(parseMatrixMarket(pipeOf(text, 4099))).toEqual(parseMatrixMarket(text))
})
