import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, expect, test } from 'vitest'
import { openSourceFile, readText, sourceOf, withSource } from '../../../src/text/byte-source.js'
import { pipeOf } from '../../support/sources.js'
import { thrown } from '../topology/thrown.js'

const folder = mkdtempSync(join(tmpdir(), 'rankweave-'))
afterAll(() => rmSync(folder, { recursive: true }))

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
  expect(seen).toEqual([3, 6, 7, 7].map((done) => [done, 7]))
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
  expect(thrown(() => openSourceFile(join(folder, 'absent'))).code).toBe('ERR_FILE')
  const source = openSourceFile(folder)
  expect(thrown(() => source.read(new Uint8Array(1))).code).toBe('ERR_FILE')
  source.close()
})

test('readText decodes UTF-8, also across pieces', () => {
  expect(readText(pipeOf('grün €', 1), 'f')).toBe('grün €')
  const error = thrown(() => readText(sourceOf(Uint8Array.of(0x30, 0xff, 0x31)), 'f'))
  expect(error.code).toBe('ERR_FILE')
  expect(error.message).toMatch(/^'f': expected UTF-8 text of at most \d+ bytes, got 3 bytes that are not$/)
  expect(thrown(() => readText(sourceOf(Uint8Array.of(0xe2, 0x82)), 'f')).code).toBe('ERR_FILE')
})

test('readText rejects gzip-compressed data and names the remedy', () => {
  expect(thrown(() => readText(sourceOf(gzipSync('text')), 'f'))).toMatchObject({
    code: 'ERR_FILE',
    message: "'f': expected UTF-8 text, got gzip-compressed data; run gunzip first",
  })
})
