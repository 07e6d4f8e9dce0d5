import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { readText, sourceOf } from '../../../src/text/byte-source.js'
import { refusal } from '../../support/refusal.js'
import { pipeOf } from '../../support/sources.js'
import { thrown } from '../topology/thrown.js'

test('readText decodes UTF-8, also across pieces', () => {
  expect(readText(pipeOf('grün €', 1), 'f')).toBe('grün €')
  expect(() => readText(sourceOf(Uint8Array.of(0x30, 0xff, 0x31)), 'f')).toThrow(
    refusal('ERR_FILE', /^'f': expected UTF-8 text of at most \d+ bytes, got 3 bytes that are not$/),
  )
  expect(() => readText(sourceOf(Uint8Array.of(0xe2, 0x82)), 'f')).toThrow(refusal('ERR_FILE'))
})

test('readText rejects gzip-compressed data and names the remedy', () => {
  expect(thrown(() => readText(sourceOf(gzipSync('text')), 'f'))).toMatchObject({
    code: 'ERR_FILE',
    message: "'f': expected UTF-8 text, got gzip-compressed data; run gunzip first",
  })
})
