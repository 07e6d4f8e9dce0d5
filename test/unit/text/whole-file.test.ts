import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { removeUnfinishedFiles, requireWritable, writeWholeFile } from '../../../src/text/whole-file.js'
import { refusal } from '../../support/refusal.js'
import { ownFolder } from '../../support/temporary-folder.js'

const folder = ownFolder('whole')

function* pieces(count: number): Generator<string> {
  for (let i = 0; i < count; i++) yield `line ${i}\n`
}

test.each(['plain', 'compressed.gz'])('%s is written in pieces, and nothing else remains', async (name) => {
  const path = join(folder, name)
  await writeWholeFile(path, pieces(300_000))
  const bytes = readFileSync(path)
  const text = name.endsWith('.gz') ? gunzipSync(bytes).toString() : bytes.toString()
  expect(text).toBe([...pieces(300_000)].join(''))
  expect(readdirSync(folder).filter((file) => file.endsWith('.part'))).toEqual([])
})

test('what cannot be written is found before the work', async () => {
  await requireWritable(join(folder, 'new'))
  for (const path of ['', folder, join(folder, 'absent', 'file')]) {
    await expect(requireWritable(path)).rejects.toMatchObject({ code: 'ERR_FILE' })
  }
})

test('an interrupted write leaves no temporary file', async () => {
  function* interrupted(): Generator<string> {
    yield* pieces(300_000)
    expect(readdirSync(folder).filter((file) => file.endsWith('.part'))).toHaveLength(1)
    removeUnfinishedFiles()
    expect(readdirSync(folder).filter((file) => file.endsWith('.part'))).toEqual([])
  }
  await expect(writeWholeFile(join(folder, 'interrupted'), interrupted())).rejects.toMatchObject({
    code: 'ERR_FILE',
  })
  expect(readdirSync(folder)).not.toContain('interrupted')
})

test.each(['kept', 'kept.gz'])('%s remains as it was when producing the text fails', async (name) => {
  const path = join(folder, name)
  writeFileSync(path, 'before')
  function* failing(): Generator<string> {
    yield* pieces(200_000)
    throw new RangeError('no more')
  }
  await expect(writeWholeFile(path, failing())).rejects.toMatchObject(refusal('ERR_FILE', 'no more'))
  expect(readFileSync(path, 'utf8')).toBe('before')
  expect(readdirSync(folder).filter((file) => file.endsWith('.part'))).toEqual([])
})
