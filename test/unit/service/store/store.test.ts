import { createHash } from 'node:crypto'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { ClassicLevel } from 'classic-level'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Store } from '../../../../src/service/store/store.js'
import { refusal } from '../../../support/refusal.js'
import { silentLog } from '../../../support/silent-log.js'
import { addPlan, addTopology, idOf, jobRecord } from '../../../support/stored-plans.js'
import { temporaryFolder } from '../../../support/temporary-folder.js'

const tenant = { id: 'local' }
const other = { id: 'f'.repeat(32) }
const most = { dataBytes: 2 ** 30, entries: 100 }
const folder = temporaryFolder('store')
let folders = 0

/** A store of its own, and what opens it again. */
async function newStore(limits = most) {
  const root = join(folder(), `${folders++}`)
  const lines: string[] = []
  const log = { ...silentLog, warn: (fields: object) => void lines.push(JSON.stringify(fields)) }
  let last: Store | undefined
  const open = async () => {
    last = await Store.open(root, limits, log)
    return last
  }
  const store = await open()
  onTestFinished(() => last?.close())
  const again = async (before = store) => {
    await before.close()
    return open()
  }
  /** The file of the body of a record that is there, and all of them. */
  const bodyOf = (id: string, from = store) =>
    from.get(id[0] === 'p' ? 'plans' : 'topologies', tenant, id)!.path
  const bodies = () => readdirSync(join(root, 'bodies')).map((name) => name.split('.')[1])
  return { store, open, again, root, bodyOf, bodies, lines }
}

it('what was stored is there when the store is opened again, for its tenant alone, until it is removed', async () => {
  const { store, again, bodies } = await newStore()
  const before = store.bytes
  const plan = await addPlan(store, tenant, 1, 'one')
  await addPlan(store, other, 2, 'two')
  const reopened = await again()
  expect([...reopened.tenants].sort()).toEqual([other.id, tenant.id])
  const stored = (await reopened.verified('plans', tenant, plan))!
  expect(readFileSync(stored.path, 'utf8')).toBe('one')
  expect(stored.record).toEqual(store.get('plans', tenant, plan)!.record)
  expect(reopened.get('plans', other, plan)).toBeUndefined()
  expect(reopened.records('plans', { id: '0'.repeat(32) })).toEqual([])
  expect(await reopened.remove('plans', other, plan)).toBe(false)
  expect(await reopened.remove('plans', tenant, plan)).toBe(true)
  expect(await reopened.remove('plans', tenant, plan)).toBe(false)
  expect(reopened.bytes).toBeGreaterThan(before)
  expect(await reopened.remove('plans', other, idOf('p', 2))).toBe(true)
  expect(bodies()).toEqual([])
  const last = await again(reopened)
  expect(last.records('plans', tenant)).toEqual([])
})

/** Records of a folder that no store has, as text by key; what the change returns replaces them. */
async function editRecords(root: string, change: (key: string, text: string) => readonly [string, string]) {
  const level = new ClassicLevel(join(root, 'records'))
  for (const [key, text] of await level.iterator().all()) {
    await level.del(key)
    await level.put(...change(key, text))
  }
  await level.close()
}

/** A record whose sum is right, whatever it says. */
const signed = (key: string, json: string) =>
  [key, `${createHash('sha256').update(`${key}\n${json}`).digest('hex')} ${json}`] as const

describe('what is damaged is not there, and is put aside', () => {
  const [damagedId, anotherId] = [idOf('p', 1), idOf('p', 'another')]
  const inRecord = (from: string, to: string) => (root: string) =>
    editRecords(root, (key, text) => [key, key.includes(damagedId) ? text.replace(from, to) : text])
  const damages: readonly (readonly [string, (root: string, body: string) => unknown, string])[] = [
    [
      'a record that was cut short',
      (root) => editRecords(root, (key, text) => [key, key.includes(damagedId) ? text.slice(0, 200) : text]),
      'not what was written',
    ],
    ['a record with another count', inRecord('"bytes":10', '"bytes":11'), 'not what was written'],
    [
      'a record in the place of another',
      (root) => editRecords(root, (key, text) => [key.replace(damagedId, anotherId), text]),
      'not what was written',
    ],
    [
      'a record of another tenant',
      (root) =>
        editRecords(root, (key, text) => [
          key.includes(damagedId) ? key.replace('local', other.id) : key,
          text,
        ]),
      'not what was written',
    ],
    [
      'a record that is no JSON, with a right sum',
      (root) => editRecords(root, (key, text) => (key.includes(damagedId) ? signed(key, '{') : [key, text])),
      'is not JSON',
    ],
    ['a record without its body', (_, body) => rmSync(body), 'no bytes'],
    ['a body that was cut short', (_, body) => truncateSync(body, 3), '3 bytes'],
    ['a body that is longer', (_, body) => appendFileSync(body, 'x'), '11 bytes'],
    ['a folder in place of its body', (_, body) => toFolder(body), 'bytes, not'],
  ]
  const toFolder = (body: string) => {
    rmSync(body)
    mkdirSync(body)
  }

  it.each(damages)('%s', async (_what, damage, reason) => {
    const { store, open, again, bodyOf, bodies, root, lines } = await newStore()
    const [id, whole] = [await addPlan(store, tenant, 1), await addPlan(store, tenant, 2)]
    const body = bodyOf(id)
    await store.close()
    await damage(root, body)
    const reopened = await open()
    for (const of of [tenant, other])
      for (const asked of [id, anotherId]) expect(reopened.get('plans', of, asked)).toBeUndefined()
    expect(await reopened.verified('plans', tenant, whole)).toBeDefined()
    expect(readdirSync(join(root, 'damaged')).join()).toMatch(/(^|,)plans\.(local|f+)\.p-\w+/)
    expect(bodies()).toEqual([whole])
    expect(lines.join()).toMatch(reason)
    // Its place is free.
    await addPlan(reopened, tenant, 1, 'made again')
    expect(await reopened.verified('plans', tenant, id)).toBeDefined()
    const once = lines.length
    await (await again(reopened)).close()
    expect(lines.length).toBe(once)
  })

  it('a body of the right length with other bytes, found when it is first used', async () => {
    const { store, open, bodyOf, bodies, root } = await newStore()
    const id = await addPlan(store, tenant, 1, 'schedule')
    const body = bodyOf(id)
    await store.close()
    writeFileSync(body, 'schedulE')
    const reopened = await open()
    expect(reopened.get('plans', tenant, id)).toBeDefined()
    const both = [reopened.verified('plans', tenant, id), reopened.verified('plans', tenant, id)]
    expect(await Promise.all(both)).toEqual([undefined, undefined])
    expect(reopened.get('plans', tenant, id)).toBeUndefined()
    expect(bodies()).toEqual([])
    expect(readdirSync(join(root, 'damaged')).sort()).toEqual([`plans.local.${id}`, `plans.local.${id}.json`])
  })
})

it('a body without a record is put aside, temporary files are removed, and what is not of the store is left alone', async () => {
  const { store, open, root, bodies } = await newStore()
  const id = await addPlan(store, tenant, 1)
  await store.close()
  // A body whose record was not written, and a temporary file.
  const orphan = `local.${idOf('p', 2)}.${'0'.repeat(64)}`
  writeFileSync(join(root, 'bodies', orphan), 'half of a sched')
  writeFileSync(join(root, 'temporary', 'abc'), 'x')
  mkdirSync(join(root, 'notes'))
  writeFileSync(join(root, 'notes', 'mine'), 'x')
  const reopened = await open()
  expect(bodies()).toEqual([id])
  expect(readdirSync(join(root, 'damaged'))).toEqual([orphan])
  expect(readdirSync(join(root, 'temporary'))).toEqual([])
  expect(existsSync(join(root, 'notes', 'mine'))).toBe(true)
  expect(reopened.records('plans', tenant)).toHaveLength(1)
})

it.each(['CURRENT', ''])(
  'bodies without their database are left alone: records/%s is missing',
  async (name) => {
    const { store, open, root, bodies } = await newStore()
    const id = await addPlan(store, tenant, 1)
    await store.close()
    const away = join(root, 'records', name)
    renameSync(away, join(root, 'away'))
    await expect(Store.open(root, most, silentLog)).rejects.toMatchObject(
      refusal('ERR_STORE', /expected the database of the data, got none/),
    )
    expect(bodies()).toEqual([id])
    renameSync(join(root, 'away'), away)
    const reopened = await open()
    expect(reopened.records('plans', tenant)).toHaveLength(1)
  },
)

it.each(['__proto__', 'other'])('a record of the kind %s, with a right sum, is put aside', async (shelf) => {
  const { store, open, root } = await newStore()
  const id = await addPlan(store, tenant, 1)
  await store.close()
  await editRecords(root, (key, text) =>
    key.includes(id) ? signed(`${shelf}/local/${id}`, '{}') : [key, text],
  )
  const reopened = await open()
  expect(reopened.records('plans', tenant)).toEqual([])
  expect(readdirSync(join(root, 'damaged')).length).toBeGreaterThan(0)
})

it('where the folder of bodies is gone, the store knows that it cannot write', async () => {
  const { store, root } = await newStore()
  const writable = new Promise<void>((resolve) => {
    store.onWritable = resolve
  })
  renameSync(join(root, 'bodies'), join(root, 'away'))
  const refused = await addPlan(store, tenant, 1).catch((error: unknown) => error)
  expect(refused).toMatchObject({ code: 'ERR_STORE', message: expect.stringContaining('ENOENT') as string })
  // Clients are not told where the data is.
  expect((refused as Error).message).not.toContain(root)
  expect(store.problem).not.toBeNull()
  renameSync(join(root, 'away'), join(root, 'bodies'))
  await writable
  expect(store.problem).toBeNull()
  await addPlan(store, tenant, 1)
})

it('files of the layout before the database are refused, and left alone', async () => {
  const { store, root } = await newStore()
  await store.close()
  mkdirSync(join(root, 'local', 'plans'), { recursive: true })
  await expect(Store.open(root, most, silentLog)).rejects.toMatchObject(
    refusal('ERR_STORE', /local: expected no files of an older layout; move local away/),
  )
  expect(existsSync(join(root, 'local', 'plans'))).toBe(true)
})

describe('room', () => {
  it('is made by removing the oldest plans first, then topologies that nothing needs, also after a restart', async () => {
    const { store, again, bodies } = await newStore({ dataBytes: 2 ** 30, entries: 4 })
    const needed = await addTopology(store, tenant, 0)
    const needless = await addTopology(store, tenant, 1)
    const young = await addPlan(store, tenant, 3)
    const old = await addPlan(store, tenant, 2)
    // Their order on the disk says nothing, that of their times does.
    const reopened = await again()
    const isNeeded = (of: string, id: string) => of === tenant.id && id === needed
    const next = await addPlan(reopened, tenant, 4, 'next', isNeeded)
    expect(reopened.get('plans', tenant, old)).toBeUndefined()
    expect(reopened.get('plans', tenant, young)).toBeDefined()
    await addTopology(reopened, tenant, 5, 'five', isNeeded)
    await addTopology(reopened, tenant, 6, 'six', isNeeded)
    expect(reopened.records('plans', tenant)).toEqual([])
    expect(reopened.get('topologies', tenant, needless)).toBeDefined()
    await addTopology(reopened, tenant, 7, 'seven', isNeeded)
    expect(reopened.get('topologies', tenant, needless)).toBeUndefined()
    expect(reopened.get('topologies', tenant, needed)).toBeDefined()
    expect(bodies()).not.toContain(next)
  })

  it('is taken from the tenant that takes most: a tenant that stores much displaces nothing of one that stores little', async () => {
    const { store } = await newStore({ dataBytes: 100_000, entries: 100 })
    const theirs = [await addTopology(store, other, 0, 'x'.repeat(9_000)), await addPlan(store, other, 1)]
    const isThere = () => [store.get('topologies', other, theirs[0]), store.get('plans', other, theirs[1])]
    for (let index = 2; index < 20; index++) await addPlan(store, tenant, index, 'y'.repeat(10_000))
    expect(isThere()).not.toContain(undefined)
    expect(store.records('plans', tenant).length).toBeLessThan(6)
    // What cannot have room whatever goes displaces nothing of its own either.
    const plans = store.records('plans', tenant)
    await expect(addPlan(store, tenant, 20, 'z'.repeat(90_000))).rejects.toMatchObject({ code: 'ERR_LIMIT' })
    expect(store.records('plans', tenant)).toEqual(plans)
    expect(isThere()).not.toContain(undefined)
    // And one that stores little gets room from one that stores much.
    const before = store.records('plans', tenant).length
    await addPlan(store, other, 30, 'y'.repeat(10_000))
    expect(isThere()).not.toContain(undefined)
    expect(store.records('plans', tenant).length).toBeLessThan(before)
  })

  it('counts the engine, which gives up what was overwritten before any plan goes', async () => {
    const { store, again } = await newStore({ dataBytes: 220_000, entries: 100 })
    const plan = await addPlan(store, tenant, 1)
    for (let write = 0; write < 400; write++) await store.putJob(tenant, jobRecord(1))
    await addPlan(store, tenant, 2, 'y'.repeat(50_000))
    expect(store.get('plans', tenant, plan)).toBeDefined()
    expect(store.bytes).toBeLessThan(220_000)
    const reopened = await again()
    expect(reopened.records('plans', tenant)).toHaveLength(2)
  })

  it('is bounded in bytes; what does not fit, or would displace what is needed, is refused and leaves all as it was', async () => {
    const { store, again, root, bodies } = await newStore({ dataBytes: 60_000, entries: 100 })
    const needed = await addTopology(store, tenant, 0, 'x'.repeat(30_000))
    await expect(addPlan(store, tenant, 1, 'y'.repeat(30_000), () => true)).rejects.toMatchObject({
      code: 'ERR_LIMIT',
    })
    expect(bodies()).toEqual([needed])
    expect(store.records('plans', tenant)).toEqual([])
    // Two at once do not both take the room that is there for one: the later one displaces the other.
    const both = await Promise.allSettled(
      [2, 3].map((index) => addPlan(store, tenant, index, 'z'.repeat(9_000), () => true)),
    )
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled'])
    expect(bodies().sort()).toEqual([idOf('p', 3), needed].sort())
    expect(store.bytes).toBeLessThanOrEqual(60_000)
    const reopened = await again()
    expect(reopened.get('topologies', tenant, needed)).toBeDefined()
    expect(readdirSync(join(root, 'temporary'))).toEqual([])
  })
})

describe('the folder', () => {
  it('has one store at a time, and is free again after it', async () => {
    const { again, root } = await newStore()
    await expect(Store.open(root, most, silentLog)).rejects.toMatchObject({ code: 'ERR_STORE' })
    await again()
  })

  it('is refused by whatever path it is reached, and free again where opening it failed', async () => {
    const { store, root } = await newStore()
    symlinkSync(root, `${root}-link`)
    await expect(Store.open(`${root}-link`, most, silentLog)).rejects.toMatchObject({ code: 'ERR_STORE' })
    await store.close()
    rmSync(join(root, 'damaged'), { recursive: true })
    writeFileSync(join(root, 'damaged'), '')
    await expect(Store.open(root, most, silentLog)).rejects.toMatchObject({ code: 'ERR_STORE' })
    rmSync(join(root, 'damaged'))
    await (await Store.open(root, most, silentLog)).close()
  })

  it('that cannot be made is an error with a code', async () => {
    const file = join(folder(), 'file')
    writeFileSync(file, '')
    await expect(Store.open(join(file, 'data'), most, silentLog)).rejects.toMatchObject({
      code: 'ERR_STORE',
    })
  })
})

describe('at the same time', () => {
  it('equal content in two forms is stored once, with the head of the body that is there', async () => {
    for (let round = 0; round < 3; round++) {
      const { store, again } = await newStore()
      const texts = ['plain', 'the same, compressed', 'and in a third form']
      const ids = await Promise.all(texts.map((text) => addTopology(store, tenant, 1, text)))
      expect(new Set(ids).size).toBe(1)
      const reopened = await again()
      const stored = await reopened.verified('topologies', tenant, ids[0])
      expect(stored).toBeDefined()
      expect(readFileSync(stored!.path, 'utf8')).toHaveLength(stored!.record.info.bytes)
      await reopened.close()
    }
  })

  it('of several states of a job the last that was given is on the disk', async () => {
    const { store, again } = await newStore()
    const states = ['queued', 'failed', 'queued', 'failed', 'queued'] as const
    const removed = store.remove('jobs', tenant, jobRecord(1).id)
    await Promise.all(states.map((state) => store.putJob(tenant, jobRecord(1, state))))
    expect(await removed).toBe(false)
    const reopened = await again()
    expect(reopened.records('jobs', tenant)).toMatchObject([{ state: 'queued' }])
  })

  it('what is removed and stored again is there, whatever came between', async () => {
    const { store, again } = await newStore()
    const id = await addPlan(store, tenant, 1)
    const all = [store.remove('plans', tenant, id), addPlan(store, tenant, 1, 'made again')]
    await Promise.all([...all, store.verified('plans', tenant, id)])
    const reopened = await again()
    expect(await reopened.verified('plans', tenant, id)).toBeDefined()
  })

  it('closing waits for what is being written, and nothing more is taken', async () => {
    const { store, open } = await newStore()
    const adding = addPlan(store, tenant, 1)
    await Promise.resolve()
    const closed = store.close()
    const id = await adding
    await closed
    await expect(addPlan(store, tenant, 2)).rejects.toMatchObject({ code: 'ERR_BUSY' })
    const reopened = await open()
    expect(await reopened.verified('plans', tenant, id)).toBeDefined()
  })
})
