import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Communicator, createOperation, isRankweaveError, local, run } from 'rankweave'
import { afterAll, describe, expect, it } from 'vitest'
import { NumberedSettings } from '../../../src/tuning/settings/setting.js'
import { callFilesOf, disagreements, recordsByCall } from '../../support/call-folders.js'
import onlineCalls from '../../support/online-calls.js'
import { refusal } from '../../support/refusal.js'
import { modelOfOneSetting } from '../../support/tuning-files.js'
import { cli } from '../cli/run-cli.js'

const root = mkdtempSync(join(tmpdir(), 'rankweave-online-'))
afterAll(() => rmSync(root, { recursive: true }))
let folders = 0
const newFolder = () => join(root, `runs-${folders++}`)

const world = (ranks: number, processes: number) => ({ ranks, fabric: local({ processes }) })
const joined = createOperation((a: string, b: string) => a + b, { commutative: false })
const allreduces = (calls: number) => async (comm: Communicator) => {
  for (let i = 0; i < calls; i++) await comm.allreduce(Int32Array.of(comm.rank), 'sum')
  return comm.describe().collectives.map(({ algorithm, calls: count }) => `${count} x ${algorithm}`)
}

describe('a run that tunes online', () => {
  it('records every call of each process, in one file', async () => {
    const online = newFolder()
    await run(onlineCalls, {
      ...world(8, 4),
      args: { calls: 150, seed: 3 },
      tuning: { online, calls: 2000 },
    })
    const [file, ...others] = callFilesOf(online)
    expect(others).toEqual([])
    expect(file).toMatchObject({ mode: 'tuning', model: '', processes: 4 })
    expect(file.source).toEqual({ kind: 'rankweave', name: 'local', machine: hostname() })
    expect(disagreements(file)).toEqual([])
    const calls = recordsByCall(file)
    expect(calls.size).toBeGreaterThan(150)
    const places = new Map(file.communicators.map((each) => [each.id, each.processes]))
    for (const [key, records] of calls) {
      expect(records).toHaveLength(places.get(Number(key.split(' ')[0]))!)
      for (const { startUs, endUs } of records) expect(endUs).toBeGreaterThanOrEqual(startUs)
    }
    const settings = new Set(
      [...calls.values()].map(([{ collective, setting }]) => `${collective} ${setting}`),
    )
    expect(settings.size).toBeGreaterThan(40)
  })

  it('chooses and records the first calls only, and the rule decides the others', async () => {
    const online = newFolder()
    const [used] = await run(allreduces(1001), { ...world(4, 4), tuning: { online } })
    const [file] = callFilesOf(online)
    expect(recordsByCall(file).size).toBe(1000)
    expect(used.reduce((sum, text) => sum + Number(text.split(' ')[0]), 0)).toBeGreaterThanOrEqual(1001)
  })

  it('divides its calls among communicators that are made one from the other', async () => {
    const online = newFolder()
    const main = async (comm: Communicator) => {
      const copy = await comm.dup()
      const part = await comm.split(comm.rank % 2)
      for (const each of [comm, copy, part!])
        for (let i = 0; i < 100; i++) await each.allreduce(Int32Array.of(1), 'sum')
    }
    await run(main, { ...world(4, 4), tuning: { online, calls: 100 } })
    const [file] = callFilesOf(online)
    const counts = new Map<number, number>()
    for (const key of recordsByCall(file).keys()) {
      const communicator = Number(key.split(' ')[0])
      counts.set(communicator, (counts.get(communicator) ?? 0) + 1)
    }
    // The copy gets 50 of 100, each part of the split 25 of the 50 that are left, the world keeps 25.
    expect([...counts.values()].sort((a, b) => a - b)).toEqual([25, 25, 25, 50])
    for (const records of file.records.values()) expect(records).toHaveLength(100)
  })

  it('records on the processes that are to be measured, and all choose alike', async () => {
    const online = newFolder()
    await run(allreduces(30), { ...world(4, 4), tuning: { online, measured: 2, seed: 7 } })
    const [file] = callFilesOf(online)
    expect(file.seed).toBe(7)
    expect([...file.records.values()].map((records) => records.length)).toEqual([30, 30, 0, 0])
  })

  it('with one seed takes the same settings again, with another one others', async () => {
    const settingsOf = async (seed: number) => {
      const online = newFolder()
      await run(allreduces(50), { ...world(3, 3), tuning: { online, seed } })
      return callFilesOf(online)[0]
        .records.get(0)!
        .map(({ setting }) => setting)
    }
    const first = await settingsOf(11)
    expect(await settingsOf(11)).toEqual(first)
    expect(await settingsOf(12)).not.toEqual(first)
  })

  it('keeps the bits of floating-point sums, and the order of operations that do not commute', async () => {
    const main = async (comm: Communicator) => {
      const texts: string[] = []
      for (let i = 0; i < 40; i++) {
        const sums = await comm.allreduce(
          Float64Array.of(0.1 * (comm.rank + 1), 1e16 / (comm.rank + 3)),
          'sum',
        )
        const text = await comm.allreduce(String(comm.rank), joined)
        texts.push(`${[...sums].join()} ${text}`)
      }
      return texts
    }
    const without = await run(main, world(7, 7))
    expect(await run(main, { ...world(7, 7), tuning: { online: newFolder() } })).toEqual(without)
  })

  it('records the default each time that a drawn setting cannot serve', async () => {
    const online = newFolder()
    const most = createOperation(
      (a: Int32Array, b: Int32Array) => {
        for (let i = 0; i < a.length; i++) a[i] = Math.max(a[i], b[i])
        return undefined
      },
      { commutative: true },
    )
    const main = async (comm: Communicator) => {
      for (let i = 0; i < 300; i++) {
        const got = await comm.allreduce(Int32Array.of(comm.rank, i), most)
        if (got.join() !== `3,${i}`) throw new Error(`expected 3,${i}, got ${got.join()}`)
      }
    }
    await run(main, { ...world(4, 4), tuning: { online, seed: 1 } })
    const [file] = callFilesOf(online)
    expect(disagreements(file)).toEqual([])
    const table = new NumberedSettings(file.settings)
    const numbers = file.records.get(0)!.map(({ setting }) => setting)
    const used = numbers.map((number) => (number === 0 ? '' : table.settingOf('allreduce', number).algorithm))
    expect(used).not.toContain('allreduce-segmented')
    expect(used.filter((algorithm) => algorithm === '').length).toBeGreaterThan(5)
    expect(new Set(used).size).toBeGreaterThan(3)
  })

  it('writes nothing when it fails, and nothing without the option', async () => {
    const online = newFolder()
    const failing = async (comm: Communicator) => {
      await comm.allreduce(Int32Array.of(1), 'sum')
      if (comm.rank === 1) throw new Error('mine')
    }
    await expect(run(failing, { ...world(3, 3), tuning: { online } })).rejects.toThrow('mine')
    expect(callFilesOf(online)).toEqual([])
    await run(allreduces(3), { ...world(3, 3), tuning: null })
    expect(callFilesOf(online)).toEqual([])
  })

  it('has its results and a warning where its folder is gone at the end', async () => {
    const online = newFolder()
    const warnings: string[] = []
    const onWarning = (warning: Error) => warnings.push(warning.message)
    process.on('warning', onWarning)
    const main = async (comm: Communicator) => {
      await comm.barrier()
      if (comm.rank === 0) rmSync(online, { recursive: true })
      return comm.rank
    }
    expect(await run(main, { ...world(2, 2), tuning: { online } })).toEqual([0, 1])
    await new Promise((resolve) => setImmediate(resolve))
    process.off('warning', onWarning)
    expect(warnings.join()).toMatch(/the calls of this run are not recorded: cannot write/)
    expect(existsSync(online)).toBe(false)
  })

  it('learns: after some runs, tuned ones take settings of the model and teach nothing', async () => {
    const online = newFolder()
    for (let i = 0; i < 3; i++) await run(allreduces(200), { ...world(4, 4), tuning: { online, seed: i } })
    expect((await cli('learn', online)).exitCode).toBe(0)
    const checksum = JSON.parse(readFileSync(join(online, 'model.json'), 'utf8')).checksum
    const [used] = await run(allreduces(60), { ...world(4, 4), tuning: `tuned:${online}` })
    const tuned = callFilesOf(online).find(({ mode }) => mode === 'tuned')!
    expect(tuned.model).toBe(checksum)
    expect(new Set(tuned.records.get(0)!.map(({ setting }) => setting)).size).toBe(1)
    expect(used.filter((text) => text.startsWith('60 x'))).toHaveLength(1)
    const again = await cli('learn', online)
    expect(again.stdout).toMatch(/^3 runs of local .* 600 calls; 1 evaluation run\n/)
  })
})

describe('a run that tunes online and loses a process', () => {
  const surviving = (calls: number) => async (world: Communicator) => {
    let comm = world
    let sums = 0
    for (let i = 0; i < calls; ) {
      let sum: Int32Array | undefined
      try {
        sum = await comm.allreduce(Int32Array.of(1), 'sum')
      } catch (error) {
        if (!isRankweaveError(error, 'ERR_PEER_LOST') && !isRankweaveError(error, 'ERR_REVOKED')) throw error
        await comm.revoke()
      }
      const worked = await comm.agree(sum === undefined ? 0 : 1).catch(() => 0)
      if (worked === 0) comm = await comm.shrink()
      else {
        sums += sum![0]
        i++
      }
    }
    return sums
  }
  const losing = (process: number) => ({
    ranks: 4,
    fabric: local({ processes: 4, seed: process, faults: { kill: [{ process, afterFrames: 40 }] } }),
  })

  it.each([0, 2])('writes what the others have recorded, if process %i is lost', async (lost) => {
    const online = newFolder()
    const sums = await run(surviving(60), { ...losing(lost), tuning: { online } })
    expect(sums[lost]).toBeUndefined()
    const [file, ...others] = callFilesOf(online)
    expect(others).toEqual([])
    expect(file.records.has(lost)).toBe(false)
    expect(file.records.size).toBe(3)
    expect(disagreements(file)).toEqual([])
    expect(recordsByCall(file).size).toBeGreaterThan(0)
  })

  it('does not warn where a process is lost while the others write', async () => {
    const warnings: string[] = []
    const onWarning = (warning: Error) => warnings.push(warning.message)
    process.on('warning', onWarning)
    for (let afterFrames = 8; afterFrames < 24; afterFrames++) {
      const online = newFolder()
      const fabric = local({
        processes: 4,
        seed: afterFrames,
        faults: { kill: [{ process: 1, afterFrames }] },
      })
      await run(surviving(4), { ranks: 4, fabric, tuning: { online } })
      expect(callFilesOf(online)).toHaveLength(1)
    }
    await new Promise((resolve) => setImmediate(resolve))
    process.off('warning', onWarning)
    expect(warnings).toEqual([])
  })

  it.each(['online', 'tuned'])('has the results of a run without it: %s', async (mode) => {
    const tuning = `${mode}:${newFolder()}`
    expect(await run(surviving(60), { ...losing(1), tuning })).toEqual(expect.arrayContaining([undefined]))
  })

  it('fails as without it where no rank has acknowledged the loss', async () => {
    const online = newFolder()
    const ignoring = async (world: Communicator) => {
      try {
        for (let i = 0; i < 60; i++) await world.allreduce(Int32Array.of(1), 'sum')
      } catch {
        // The program does not survive it.
      }
    }
    await expect(run(ignoring, { ...losing(3), tuning: { online } })).rejects.toMatchObject({
      code: 'ERR_PEER_LOST',
    })
    expect(callFilesOf(online)).toEqual([])
  })

  it('writes a file where the world was revoked', async () => {
    const online = newFolder()
    const main = async (world: Communicator) => {
      const copy = await world.dup()
      for (let i = 0; i < 10; i++) await copy.allreduce(Int32Array.of(1), 'sum')
      await copy.barrier()
      await world.revoke()
      return world.rank
    }
    expect(await run(main, { ...world(3, 3), tuning: { online } })).toEqual([0, 1, 2])
    expect(recordsByCall(callFilesOf(online)[0]).size).toBe(10)
  })
})

describe('communicators of a run that tunes online', () => {
  it('of a shrink take the rule or what was learned, and those made from them agree', async () => {
    const online = newFolder()
    const main = async (world: Communicator) => {
      const small = await world.shrink()
      const copy = await small.dup()
      const part = await copy.split(world.rank % 2)
      let sum = 0
      for (const comm of [small, copy, part!])
        for (let i = 0; i < 20; i++) sum += (await comm.allreduce(Int32Array.of(1), 'sum'))[0]
      return sum
    }
    expect(await run(main, { ...world(4, 4), tuning: { online } })).toEqual(Array(4).fill(20 * 10))
    expect(await run(main, { ...world(4, 4), tuning: `tuned:${online}` })).toEqual(Array(4).fill(20 * 10))
    for (const file of callFilesOf(online)) expect(disagreements(file)).toEqual([])
  })

  it('that are freed leave their records, and persistent calls between others none', async () => {
    const online = newFolder()
    const main = async (world: Communicator) => {
      const own = Int32Array.of(world.rank)
      const into = new Int32Array(1)
      const sum = await world.allreduceInit(own, into, 'sum')
      for (let i = 0; i < 30; i++) {
        const part = await world.dup()
        const started = sum.start()
        await part.allreduce(Int32Array.of(i), 'sum')
        await started
        if (into[0] !== 6) throw new Error(`expected 6, got ${into[0]}`)
        await part.free()
      }
      return into[0]
    }
    expect(await run(main, { ...world(4, 4), tuning: { online, calls: 2 ** 20 } })).toEqual(Array(4).fill(6))
    const [file] = callFilesOf(online)
    expect(disagreements(file)).toEqual([])
    expect([...recordsByCall(file).values()].map((records) => records.length)).toEqual(
      Array(recordsByCall(file).size).fill(4),
    )
    expect(recordsByCall(file).size).toBe(20)
  })
})

describe('is refused', () => {
  const model = (machine: string, name = 'local', kind: 'rankweave' | 'simulator' = 'rankweave') =>
    modelOfOneSetting({ kind, name, machine }, 'bcast', 'bcast-linear')
  const withModel = (text: string) => {
    const online = newFolder()
    return { online, prepare: () => cli('learn', online, '--simulate', 'solver', '--runs', '1'), text }
  }

  it.each([
    ['of another machine', model('elsewhere'), /expected a model of machine .* got one of 'elsewhere'/],
    ['of another fabric', model(hostname(), 'threads'), /expected decisions measured on fabric local/],
    ['that is damaged', model(hostname()).replace('bcast-linear', 'bcast-linean'), /checksum/],
    ['that is empty', '', /ERR_TUNING|expected JSON/],
  ])('a model %s', async (_, text, expected) => {
    const { online, prepare } = withModel(text)
    await prepare()
    writeFileSync(join(online, 'model.json'), text)
    await expect(run(allreduces(1), { ...world(2, 2), tuning: { online } })).rejects.toThrow(expected)
  })

  it.each(['tuning', 'tuned'] as const)(
    'a simulated model in a run of mode %s that records',
    async (mode) => {
      const online = newFolder()
      mkdirSync(online)
      const path = join(online, 'model.json')
      writeFileSync(path, model('two levels', 'solver', 'simulator'))
      const refused = run(allreduces(1), { ...world(2, 2), tuning: { online, mode } })
      await expect(refused).rejects.toMatchObject(
        refusal('ERR_TUNING', "got one of the simulator, 'solver' on 'two levels': use another"),
      )
      expect(readdirSync(online)).toEqual(['model.json'])
      // As a tuning file it is as good as any other one.
      await run(allreduces(1), { ...world(2, 2), tuning: path })
    },
  )

  it.each([
    ['a device', '/dev/zero', 'expected a file, got a pipe or device'],
    ['a loop of links', 'model.json', 'ELOOP'],
  ])('a model that is %s', async (_, target, expected) => {
    const online = newFolder()
    mkdirSync(online)
    symlinkSync(target, join(online, 'model.json'))
    await expect(run(allreduces(1), { ...world(2, 2), tuning: { online } })).rejects.toMatchObject(
      refusal('ERR_FILE', expected),
    )
  })

  it.each([
    [{ online: '' }, /run: expected the name of a folder, as in online:runs, got ''/],
    [{ online: 3 }, /name of a folder/],
    [{ online: 'x', mode: 'best' }, /mode/],
    [{ online: 'x', calls: -1 }, /calls/],
    [{ online: 'x', calls: 0 }, /calls.* from 1 to 1048576/],
    [{ online: 'x', calls: 2 ** 21 }, /calls/],
    [{ online: 'x', measured: 0 }, /measured/],
    [{ online: 'x', seed: 1.5 }, /seed/],
    [{ online: 'x', more: 1 }, /more/],
    ['online:', /name of a folder/],
  ])('%j', async (tuning, expected) => {
    await expect(run(allreduces(1), { ...world(2, 2), tuning: tuning as never })).rejects.toThrow(expected)
  })

  it('a folder that is a file', async () => {
    const file = join(root, 'a-file')
    writeFileSync(file, '')
    await expect(run(allreduces(1), { ...world(2, 2), tuning: { online: file } })).rejects.toThrow('a-file')
  })
})
