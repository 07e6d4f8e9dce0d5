import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { readText, sourceOf } from '../../../src/text/byte-source.js'
import { openSourceFile, withSource } from '../../../src/text/source-file.js'
import { refusal } from '../../support/refusal.js'
import { pipeOf } from '../../support/sources.js'
import { ownFolder } from '../../support/temporary-folder.js'

const folder = ownFolder('test')

test('withSource reads a file piece by piece and reports progress', () => {
  const path = join(folder, 'text')
  writeFileSync(path, 'abcdefg')
  const seen: (number | null)[][] = []
  const read = withSource(
    path,
    (source) => {
      const into = new Uint8Array(3)
      return [1, 2, 3, 4].map(() => Buffer.from(into.subarray(0, source.read(into))).toString())
    },
    { onProgress: (done, all) => seen.push([done, all]) },
  )
  expect(read).toEqual(['abc', 'def', 'g', ''])
  expect(seen).toEqual([7, 7].map((done) => [done, 7]))
})

test('withSource closes the source when reading fails', () => {
  let closed = 0
  const open = () => ({ ...sourceOf('x'), close: () => void closed++ })
  expect(() =>
    withSource(
      'x',
      () => {
        throw new Error('no')
      },
      { open },
    ),
  ).toThrow('no')
  expect(closed).toBe(1)
})

test('withSource throws ERR_FILE for what cannot be opened or read', () => {
  expect(() => openSourceFile(join(folder, 'absent'))).toThrow(refusal('ERR_FILE'))
  const source = openSourceFile(folder)
  expect(() => source.read(new Uint8Array(1))).toThrow(refusal('ERR_FILE'))
  source.close()
})

test('withSource expands a gzip file, and counts its own bytes as progress', () => {
  const path = join(folder, 'text.of.any.name')
  const compressed = gzipSync('ranks 3\n0 1\n')
  writeFileSync(path, compressed)
  const seen: (number | null)[][] = []
  const text = withSource(path, (source) => readText(source, path), {
    onProgress: (done, all) => seen.push([done, all]),
  })
  expect(text).toBe('ranks 3\n0 1\n')
  expect(seen[0]).toEqual([compressed.length, compressed.length])
})

test.each(['', 'x', '\u001f'])('withSource passes on %j, too short to be compressed', (text) => {
  expect(withSource('x', (source) => readText(source, 'x'), { open: () => pipeOf(text, 1) })).toBe(text)
})
