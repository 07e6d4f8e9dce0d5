import { truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { openFileLines } from '../../../src/text/source-file.js'
import { refusal } from '../../support/refusal.js'
import { ownFolder } from '../../support/temporary-folder.js'

const text = 'one\ntwo\n\nthree\nfour'
const folder = ownFolder('lines')
let path: string
beforeAll(() => {
  path = join(folder, 'lines.txt')
})

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
    expect(() => linesFrom(0, 3)).toThrow(refusal('ERR_FILE', 'got 20'))
  })

  it('a file that is truncated while it is read is ERR_FILE, not a shorter part', () => {
    writeFileSync(path, text)
    const source = openFileLines(path, { fromByte: 0, toByte: 9, fileBytes: text.length })
    const into = new Uint8Array(4)
    expect(source.read(into)).toBe(4)
    truncateSync(path, 5)
    expect(source.read(into)).toBe(1)
    expect(() => source.read(into)).toThrow(refusal('ERR_FILE', 'ends at byte 5'))
    source.close()
  })
})
