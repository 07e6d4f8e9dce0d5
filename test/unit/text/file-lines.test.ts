import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openFileLines } from '../../../src/text/file-lines.js'

const text = 'one\ntwo\n\nthree\nfour'
let folder: string
let path: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'rankweave-lines-'))
  path = join(folder, 'lines.txt')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** What a part holds, in reads of three bytes. */
function linesFrom(fromByte: number, toByte: number): string {
  const source = openFileLines(path, { fromByte, toByte, fileBytes: text.length })
  const into = new Uint8Array(3)
  let read = ''
  for (let count = source.read(into); count > 0; count = source.read(into))
    read += Buffer.from(into.subarray(0, count)).toString()
  source.close()
  return read
}

describe('openFileLines', () => {
  it('parts that cover the bytes cover the lines, each once', () => {
    writeFileSync(path, text)
    for (let cut = 0; cut <= text.length; cut++)
      expect(linesFrom(0, cut) + linesFrom(cut, text.length)).toBe(text)
    expect(linesFrom(1, 5)).toBe('two\n')
  })

  it('a file of another size is ERR_FILE', () => {
    writeFileSync(path, `${text}s`)
    expect(() => linesFrom(0, 3)).toThrow(
      expect.objectContaining({ code: 'ERR_FILE', message: expect.stringContaining('got 20') }),
    )
  })

  it('a file that is truncated while it is read is ERR_FILE, not a shorter part', () => {
    writeFileSync(path, text)
    const source = openFileLines(path, { fromByte: 0, toByte: 9, fileBytes: text.length })
    const into = new Uint8Array(4)
    expect(source.read(into)).toBe(4)
    truncateSync(path, 5)
    expect(source.read(into)).toBe(1)
    expect(() => source.read(into)).toThrow(
      expect.objectContaining({ code: 'ERR_FILE', message: expect.stringContaining('ends at byte 5') }),
    )
    source.close()
  })
})
