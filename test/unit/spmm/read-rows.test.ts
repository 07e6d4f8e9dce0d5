import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { isRankweaveError, run } from 'rankweave'
import { readMatrixRows, rowsOfMatrix } from 'rankweave/spmm'
import { describe, expect, it } from 'vitest'
import { readMatrixMarket } from '../../../src/topology/files/matrix-market.js'
import { ownFolder } from '../../support/temporary-folder.js'

const folder = ownFolder('rows')

function file(name: string, text: string | Uint8Array): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

const shapes = [
  { ranks: 3, processes: 1 },
  { ranks: 7, processes: 7 },
]

/** Every rank's rows equal those of the matrix that one rank reads. */
async function expectSameRows(path: string): Promise<void> {
  const whole = readMatrixMarket(path)
  for (const { ranks, processes } of shapes) {
    const read = await run((world) => readMatrixRows(world, path), { ranks, processes })
    for (let rank = 0; rank < ranks; rank++)
      expect(read[rank]).toEqual(rowsOfMatrix({ rank, size: ranks }, whole))
  }
}

const header = (kinds: string) => `%%MatrixMarket matrix ${kinds}\n`

describe('readMatrixRows returns the rows that one rank would read', () => {
  it.each(['can_1072.mtx', 'mbeacxc.mtx.gz'])('of %s', async (name) => {
    await expectSameRows(fileURLToPath(new URL(`../../matrices/${name}`, import.meta.url)))
  })

  it.each([
    [
      'general, with comments, blank lines and repetitions',
      `${header('coordinate real general')}% comment\n\n4 3 6\n1 1 1e16\n  % another\n4 3 -2\n\n1 1 1\n2 2 5\n1 1 -1e16\n1 1 1\n\n`,
    ],
    ['without a last line end', `${header('coordinate real general')}2 2 2\n1 1 3\n2 2 4`],
    ['with lines that end in CR LF', `${header('coordinate integer general')}2 2 2\r\n1 1 3\r\n2 2 4\r\n`],
    ['symmetric', `${header('coordinate real symmetric')}5 5 5\n1 1 3\n5 1 4\n3 2 7\n4 4 1\n5 4 0.5\n`],
    ['skew-symmetric', `${header('coordinate integer skew-symmetric')}5 5 3\n5 1 4\n3 2 7\n5 4 9\n`],
    ['hermitian', `${header('coordinate complex hermitian')}3 3 3\n1 1 3 0\n3 1 4 5\n3 2 0 -1\n`],
    ['pattern', `${header('coordinate pattern general')}3 4 3\n1 4\n3 1\n2 2\n`],
    ['array', `${header('array real general')}3 2\n1\n0\n3\n4\n5\n6\n`],
    ['symmetric array', `${header('array real symmetric')}3 3\n1\n2\n3\n4\n0\n6\n`],
    ['skew-symmetric array', `${header('array real skew-symmetric')}4 4\n1\n2\n3\n4\n5\n6\n`],
    ['without entries', `${header('coordinate real general')}5 4 0\n`],
    ['without rows', `${header('coordinate real general')}0 0 0`],
  ])('%s', async (name, text) => {
    const path = file(`${name}.mtx`, text)
    await expectSameRows(path)
    await expectSameRows(file(`${name}.mtx.gz`, gzipSync(text)))
  })
})

describe('readMatrixRows fails on all ranks with the error that one rank would get', () => {
  const coordinate = header('coordinate real general')
  const tail = Array.from({ length: 20 }, (_, i) => `${(i % 9) + 1} 1 1`).join('\n')
  it.each([
    ['no file', null],
    ['an empty file', ''],
    ['another format', 'a,b\n'],
    ['a size line that promises too much', `${coordinate}9 9 1000000\n1 1 1\n`],
    ['a row beyond the last', `${coordinate}9 9 22\n${tail}\n10 1 1\n1 1 1\n`],
    ['two errors, the first counts', `${coordinate}9 9 22\n1 x 1\n${tail}\n10 1 1\n`],
    ['too few entries', `${coordinate}9 9 22\n${tail}\n\n% end\n`],
    ['too many entries', `${coordinate}9 9 12\n${tail}\n`],
    ['a byte order mark within', `${coordinate}9 9 21\n${tail}\n\uFEFF1 1 1\n`],
    ['a truncated line', `${coordinate}9 9 21\n${tail}\n1 1`],
    ['a value that is none', `${coordinate}9 9 21\n${tail}\n1 1 one\n`],
    [
      'the upper triangle of a symmetric matrix',
      `${header('coordinate real symmetric')}9 9 21\n${tail}\n1 2 1\n`,
    ],
    ['too few values of an array', `${header('array real general')}3 2\n1\n2\n3\n4\n5\n`],
    ['no line of values', `${header('array real general')}1 1\n%\n\n`],
  ])('%s', async (name, text) => {
    const path = text === null ? join(folder, 'none.mtx') : file(`${name}.mtx`, text)
    const expected = errorOf(() => readMatrixMarket(path))
    for (const { ranks, processes } of shapes) {
      const errors = await run(
        async (world) => {
          try {
            await readMatrixRows(world, path)
            return null
          } catch (error) {
            return describeError(error)
          }
        },
        { ranks, processes },
      )
      expect(errors).toEqual(Array.from({ length: ranks }, () => expected))
    }
  })

  it('a damaged gzip file', async () => {
    const damaged = gzipSync(`${coordinate}9 9 20\n${tail}\n`).subarray(0, 60)
    const path = file('damaged.mtx.gz', damaged)
    const expected = errorOf(() => readMatrixMarket(path))
    const failing = run((world) => readMatrixRows(world, path), { ranks: 4, processes: 2 })
    await expect(failing).rejects.toMatchObject({ code: expected!.code })
  })
})

function errorOf(call: () => unknown) {
  try {
    call()
  } catch (error) {
    return describeError(error)
  }
  return null
}

function describeError(error: unknown) {
  if (!isRankweaveError(error)) throw error
  const { code, message, details } = error
  return { code, message, details }
}
