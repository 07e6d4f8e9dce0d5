import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Communicator, host, join as joinWorld } from 'rankweave'
import { afterAll, describe, expect, it } from 'vitest'
import { callFilesOf, disagreements, recordsByCall } from '../../support/call-folders.js'
import { modelOfOneSetting } from '../../support/tuning-files.js'

const root = mkdtempSync(join(tmpdir(), 'rankweave-online-joined-'))
afterAll(() => rmSync(root, { recursive: true }))
let folders = 0
const newFolder = () => {
  const folder = join(root, `runs-${folders++}`)
  mkdirSync(folder)
  return folder
}

const main = async (world: Communicator) => {
  let sum = 0
  for (let i = 0; i < 60; i++) sum += (await world.allreduce(Int32Array.of(world.rank), 'sum'))[0]
  return sum
}

/** One process for each folder; what becomes of each. */
async function worldOf(tunings: readonly unknown[]) {
  const world = await host({ ranks: tunings.length, tuning: null })
  const { url, token } = world
  const outcomes = await Promise.allSettled(
    tunings.map((tuning, process) =>
      joinWorld(main, { url, token, process, tuning: tuning as never, program: 'sums' }),
    ),
  )
  await world.close()
  return outcomes
}

const modelOf = (machine: string) =>
  modelOfOneSetting({ kind: 'rankweave', name: 'websocket', machine }, 'allreduce', 'allreduce-linear')

describe('a world that processes join and that tunes online', () => {
  it('chooses alike, and the process of rank 0 writes in its folder', async () => {
    const [first, second] = [newFolder(), newFolder()]
    const outcomes = await worldOf([{ online: first }, `online:${second}`])
    const result = { status: 'fulfilled', value: expect.objectContaining({ results: [60] }) }
    expect(outcomes).toEqual([result, result])
    const [file, ...others] = callFilesOf(first)
    expect([others, callFilesOf(second)]).toEqual([[], []])
    expect(file).toMatchObject({ mode: 'tuning', processes: 2, source: { name: 'websocket' } })
    expect(disagreements(file)).toEqual([])
    expect([...recordsByCall(file).values()].map((records) => records.length)).toEqual(Array(60).fill(2))
    expect(new Set([...file.records.values()].flat().map(({ setting }) => setting)).size).toBeGreaterThan(5)
  })

  it('draws anew in every world, and as a seed says that all give', async () => {
    const settingsOf = async (seed?: number) => {
      const online = newFolder()
      const tuning = seed === undefined ? { online } : { online, seed }
      await worldOf([tuning, tuning])
      return callFilesOf(online)[0]
        .records.get(0)!
        .map(({ setting }) => setting)
    }
    expect(await settingsOf()).not.toEqual(await settingsOf())
    expect(await settingsOf(7)).toEqual(await settingsOf(7))
  })

  it.each([
    ['none', null],
    ['another mode', { mode: 'tuned' }],
    ['another number of calls', { calls: 5 }],
    ['another seed', { seed: 3 }],
  ])('refuses a process with %s', async (_, other) => {
    const world = await host({ ranks: 2, tuning: null })
    const { url, token } = world
    const stop = new AbortController()
    let accepted!: () => void
    const isFirst = new Promise<void>((resolve) => {
      accepted = resolve
    })
    const options = { url, token, program: 'sums' }
    const first = joinWorld(main, {
      ...{ ...options, tuning: { online: newFolder() }, signal: stop.signal },
      onWaiting: () => accepted(),
    }).catch((error: unknown) => error)
    await isFirst
    const tuning = other === null ? null : { online: newFolder(), ...other }
    const second = joinWorld(main, { ...options, tuning: tuning as never })
    await expect(second).rejects.toMatchObject({ code: 'ERR_TUNING_MISMATCH' })
    stop.abort()
    expect(await first).toMatchObject({ code: 'ERR_ABORTED' })
    await world.close()
  })

  it('takes one model from all folders, of the machine of rank 0', async () => {
    const text = modelOf('elsewhere')
    const tunings = [newFolder(), newFolder()].map((online) => {
      writeFileSync(join(online, 'model.json'), text)
      return `tuned:${online}`
    })
    const refused = { status: 'rejected', reason: { code: 'ERR_TUNING' } }
    expect(await worldOf(tunings)).toMatchObject([refused, refused])
  })

  it('is named by the processes, not by the host', async () => {
    await expect(host({ ranks: 1, tuning: `online:${newFolder()}` })).rejects.toMatchObject({
      code: 'ERR_ARGUMENT',
    })
  })
})
