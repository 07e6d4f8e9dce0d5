import { once } from 'node:events'
import { lstat, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type NeighborSchedule, readScheduleFile, writeScheduleFile } from 'rankweave/schedule'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { linesIn } from '../../../../src/schedule/file/schedule-file.js'
import { sourceOf } from '../../../../src/text/byte-source.js'
import { refusal } from '../../../support/refusal.js'
import { directSchedule, friendsSchedule, topologyOf } from '../fixtures.js'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rankweave-'))
})
afterEach(() => rm(folder, { recursive: true }))

test('lines of a schedule file are bounded', () => {
  const endless = { ...sourceOf(''), read: (into: Uint8Array) => into.fill(0).length }
  expect(() => [...linesIn(endless, 'f', 2 ** 20)]).toThrow(
    refusal('ERR_SCHEDULE_FORMAT', 'f:1: expected a line of at most 1048576 characters, got a longer one'),
  )
  expect([...linesIn(sourceOf('ab\nc'), 'f', 2)]).toEqual(['ab', 'c'])
})

describe('schedule files', () => {
  test('come back as they were, also longer than one chunk', async () => {
    const all: [number, number][] = []
    for (let p = 0; p < 100; p++) for (let q = 0; q < 100; q++) all.push([p, q])
    for (const schedule of [friendsSchedule(), directSchedule(topologyOf(100, all))]) {
      const path = join(folder, 'plan.jsonl')
      await writeScheduleFile(path, schedule)
      expect(await readScheduleFile(path)).toEqual(schedule)
      expect(await readdir(folder)).toEqual(['plan.jsonl'])
    }
  })

  test('are read without a line end, and with those of Windows', async () => {
    const path = join(folder, 'plan.jsonl')
    await writeScheduleFile(path, friendsSchedule())
    const text = await readFile(path, 'utf8')
    for (const variant of [text.trimEnd(), text.replaceAll('\n', '\r\n')]) {
      await writeFile(path, variant)
      expect(await readScheduleFile(path)).toEqual(friendsSchedule())
    }
  })

  test('appear complete or not at all', async () => {
    const path = join(folder, 'plan.jsonl')
    await writeFile(path, 'what was there')
    const failing = { ...friendsSchedule() } as NeighborSchedule
    const { staging } = failing
    let reads = 0
    // The first is a check, before anything is written.
    Object.defineProperty(failing, 'staging', {
      get: () => {
        if (reads++ === 0) return staging
        throw new Error('the disk is full')
      },
    })
    await expect(writeScheduleFile(path, failing)).rejects.toMatchObject({
      code: 'ERR_FILE',
      message: expect.stringContaining('the disk is full'),
    })
    expect(await readdir(folder)).toEqual(['plan.jsonl'])
    expect(await readFile(path, 'utf8')).toBe('what was there')
  })

  test('replace a file, not the link to it, nor its permissions', async () => {
    const file = join(folder, 'plan.jsonl')
    await writeFile(file, 'what was there', { mode: 0o600 })
    await symlink('plan.jsonl', join(folder, 'link'))
    await writeScheduleFile(join(folder, 'link'), friendsSchedule())
    expect((await lstat(join(folder, 'link'))).isSymbolicLink()).toBe(true)
    expect((await lstat(file)).mode & 0o777).toBe(0o600)
    expect(await readScheduleFile(file)).toEqual(friendsSchedule())
  })

  test('never replace anything but a file', async () => {
    const server = createServer().listen(join(folder, 'socket'))
    await once(server, 'listening')
    for (const path of ['socket', '.']) {
      await expect(writeScheduleFile(join(folder, path), friendsSchedule())).rejects.toMatchObject({
        code: 'ERR_FILE',
        message: expect.stringContaining('expected a file or nothing there'),
      })
    }
    expect((await lstat(join(folder, 'socket'))).isSocket()).toBe(true)
    expect(await readdir(folder)).toEqual(['socket'])
    server.close()
  })

  test('that cannot be written or read are named with the reason', async () => {
    const missing = join(folder, 'no', 'plan.jsonl')
    const refusal = {
      code: 'ERR_FILE',
      details: { file: missing },
      message: expect.stringContaining('ENOENT'),
    }
    await expect(writeScheduleFile(missing, friendsSchedule())).rejects.toMatchObject(refusal)
    await expect(readScheduleFile(missing)).rejects.toMatchObject(refusal)
    await expect(readScheduleFile(folder)).rejects.toMatchObject({ code: 'ERR_FILE' })
    await expect(writeScheduleFile(folder, friendsSchedule())).rejects.toMatchObject({ code: 'ERR_FILE' })
    expect(await readdir(folder)).toEqual([])
  })

  test('that are malformed are rejected with file and line', async () => {
    const path = join(folder, 'plan.jsonl')
    await writeFile(path, 'x\n')
    await expect(readScheduleFile(path)).rejects.toMatchObject({
      code: 'ERR_SCHEDULE_FORMAT',
      details: { source: path, line: 1 },
    })
    await writeFile(path, '')
    await expect(readScheduleFile(path)).rejects.toMatchObject({ code: 'ERR_SCHEDULE_FORMAT' })
  })
})
