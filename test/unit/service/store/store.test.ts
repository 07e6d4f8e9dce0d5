import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { silentLog } from '../../../../src/service/log.js'
import { Store } from '../../../../src/service/store/store.js'
import { addPlan, addTopology, idOf } from '../../../support/stored-plans.js'
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
  const open = () => Store.open(root, limits, log)
  const store = await open()
  const again = async (before = store) => {
    before.close()
    return open()
  }
  const shelf = (name: string, of = tenant) => join(root, of.id, name)
  return { store, again, root, shelf, lines }
}

describe('what was stored', () => {
  it('is there when the store is opened again, for its tenant alone', async () => {
    const { store, again } = await newStore()
    const plan = await addPlan(store, tenant, 1, 'one')
    await addPlan(store, other, 2, 'two')
    const reopened = await again()
    expect(reopened.bytes).toBe(store.bytes)
    expect([...reopened.tenants].sort()).toEqual([other.id, tenant.id])
    const stored = (await reopened.verified('plans', tenant, plan))!
    expect(readFileSync(stored.path, 'utf8')).toBe('one')
    expect(stored.record).toEqual(store.get('plans', tenant, plan)!.record)
    expect(reopened.get('plans', other, plan)).toBeUndefined()
    expect(reopened.records('plans', { id: '0'.repeat(32) })).toEqual([])
    reopened.close()
  })

  it('is gone when it was removed, and removed once', async () => {
    const { store, again, shelf } = await newStore()
    const plan = await addPlan(store, tenant, 1)
    const bytes = store.bytes
    expect(bytes).toBeGreaterThan(0)
    expect(await store.remove('plans', other, plan)).toBe(false)
    expect(await store.remove('plans', tenant, plan)).toBe(true)
    expect(await store.remove('plans', tenant, plan)).toBe(false)
    expect(store.bytes).toBe(0)
    expect(readdirSync(shelf('plans'))).toEqual([])
    const reopened = await again()
    expect(reopened.records('plans', tenant)).toEqual([])
    reopened.close()
  })
})

describe('what is damaged is not there, and is put aside', () => {
  const damages: readonly (readonly [string, (head: string, body: string) => void, string])[] = [
    ['a head that was cut short', (head) => truncateSync(head, 20), 'JSON'],
    ['a head without its body', (_, body) => rmSync(body), 'ENOENT'],
    ['a body that was cut short', (_, body) => truncateSync(body, 3), 'another length'],
    ['a body that is longer', (_, body) => appendFileSync(body, 'x'), 'another length'],
    ['a head with a field more', (head) => writeFileSync(head, more(head, { extra: 1 })), 'extra'],
    ['the head of another', (head) => writeFileSync(head, renamed(head)), 'the record of another'],
    ['a folder in place of its body', (_, body) => toFolder(body), 'another length'],
  ]
  const toFolder = (body: string) => {
    rmSync(body)
    mkdirSync(body)
  }
  const more = (head: string, fields: object) =>
    JSON.stringify({ ...(JSON.parse(readFileSync(head, 'utf8')) as object), ...fields })
  const renamed = (head: string) => readFileSync(head, 'utf8').replaceAll(idOf('p', 1), idOf('p', 'another'))

  it.each(damages)('%s', async (_what, damage, reason) => {
    const { store, again, shelf, root, lines } = await newStore()
    const [id, whole] = [await addPlan(store, tenant, 1), await addPlan(store, tenant, 2)]
    store.close()
    damage(join(shelf('plans'), `${id}.json`), join(shelf('plans'), id))
    const reopened = await again({ close: () => {} } as Store)
    expect(reopened.get('plans', tenant, id)).toBeUndefined()
    expect(await reopened.verified('plans', tenant, whole)).toBeDefined()
    expect(readdirSync(join(root, 'damaged'))).toContain(`local.plans.${id}.json`)
    expect(readdirSync(shelf('plans')).sort()).toEqual([whole, `${whole}.json`])
    expect(lines.join()).toContain(id)
    expect(lines.join()).toMatch(reason)
    // Its place is free.
    await addPlan(reopened, tenant, 1, 'made again')
    expect(await reopened.verified('plans', tenant, id)).toBeDefined()
    reopened.close()
  })

  it('a body of the right length with other bytes, found when it is first used', async () => {
    const { store, again, shelf, root } = await newStore()
    const id = await addPlan(store, tenant, 1, 'schedule')
    store.close()
    writeFileSync(join(shelf('plans'), id), 'schedulE')
    const reopened = await again({ close: () => {} } as Store)
    expect(reopened.get('plans', tenant, id)).toBeDefined()
    expect(await reopened.verified('plans', tenant, id)).toBeUndefined()
    expect(reopened.get('plans', tenant, id)).toBeUndefined()
    expect(reopened.bytes).toBe(0)
    expect(readdirSync(join(root, 'damaged')).sort()).toEqual([`local.plans.${id}`, `local.plans.${id}.json`])
    reopened.close()
  })
})

it('what a write that was cut short leaves is removed, and what is not of the store is left alone', async () => {
  const { store, again, root, shelf } = await newStore()
  const id = await addPlan(store, tenant, 1)
  store.close()
  // A body whose head was not written, and a temporary file.
  writeFileSync(join(shelf('plans'), idOf('p', 2)), 'half of a sched')
  writeFileSync(join(root, 'temporary', 'abc'), 'x')
  mkdirSync(join(root, 'notes'))
  writeFileSync(join(root, 'notes', 'mine'), 'x')
  const reopened = await again({ close: () => {} } as Store)
  expect(readdirSync(shelf('plans')).sort()).toEqual([id, `${id}.json`])
  expect(readdirSync(join(root, 'temporary'))).toEqual([])
  expect(existsSync(join(root, 'notes', 'mine'))).toBe(true)
  expect(reopened.records('plans', tenant)).toHaveLength(1)
  reopened.close()
})

describe('room', () => {
  it('is made by removing the oldest plans first, of whatever tenant, then topologies that nothing needs', async () => {
    const { store, shelf } = await newStore({ dataBytes: 2 ** 30, entries: 4 })
    const needed = await addTopology(store, tenant, 0)
    const needless = await addTopology(store, tenant, 1)
    const [old, young] = [await addPlan(store, other, 2), await addPlan(store, tenant, 3)]
    const isNeeded = (of: string, id: string) => of === tenant.id && id === needed
    const next = await addPlan(store, tenant, 4, 'next', isNeeded)
    expect(store.get('plans', other, old)).toBeUndefined()
    expect(store.get('plans', tenant, young)).toBeDefined()
    await addTopology(store, tenant, 5, 'five', isNeeded)
    await addTopology(store, tenant, 6, 'six', isNeeded)
    expect(store.records('plans', tenant)).toEqual([])
    expect(store.get('topologies', tenant, needless)).toBeDefined()
    await addTopology(store, tenant, 7, 'seven', isNeeded)
    expect(store.get('topologies', tenant, needless)).toBeUndefined()
    expect(store.get('topologies', tenant, needed)).toBeDefined()
    expect(readdirSync(shelf('plans'))).not.toContain(next)
    store.close()
  })

  it('is bounded in bytes; what does not fit, or would displace what is needed, is refused and leaves all as it was', async () => {
    const { store, again, root } = await newStore({ dataBytes: 60_000, entries: 100 })
    const needed = await addTopology(store, tenant, 0, 'x'.repeat(30_000))
    const bytes = store.bytes
    await expect(addPlan(store, tenant, 1, 'y'.repeat(30_000), () => true)).rejects.toMatchObject({
      code: 'ERR_LIMIT',
    })
    expect(store.bytes).toBe(bytes)
    expect(store.records('plans', tenant)).toEqual([])
    // Two at once do not both take the room that is there for one.
    const both = await Promise.allSettled(
      [2, 3].map((index) => addPlan(store, tenant, index, 'z'.repeat(6_000), () => true)),
    )
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(store.bytes).toBeLessThanOrEqual(60_000)
    const reopened = await again()
    expect(reopened.get('topologies', tenant, needed)).toBeDefined()
    expect(readdirSync(join(root, 'temporary'))).toEqual([])
    reopened.close()
  })
})

describe('the folder', () => {
  it('has one store at a time, and is free again after it', async () => {
    const { store, again, root } = await newStore()
    await expect(Store.open(root, most, silentLog)).rejects.toMatchObject({ code: 'ERR_STORE' })
    const reopened = await again(store)
    reopened.close()
  })

  it('of a process that is gone, or whose id another process has now, is free', async () => {
    const { store, root } = await newStore()
    store.close()
    for (const holder of ['', 'nonsense', '4194304999 12', `${process.ppid} 1`]) {
      writeFileSync(join(root, 'lock'), holder)
      const reopened = await Store.open(root, most, silentLog)
      expect(readFileSync(join(root, 'lock'), 'utf8')).toMatch(new RegExp(`^${process.pid} `))
      reopened.close()
      expect(existsSync(join(root, 'lock'))).toBe(false)
    }
  })

  it('of a process that lives is refused', async () => {
    const { store, root } = await newStore()
    store.close()
    const parent = readFileSync(`/proc/${process.ppid}/stat`, 'utf8')
    const start = parent.slice(parent.lastIndexOf(')') + 2).split(' ')[19]
    writeFileSync(join(root, 'lock'), `${process.ppid} ${start}`)
    await expect(Store.open(root, most, silentLog)).rejects.toMatchObject({ code: 'ERR_STORE' })
  })

  it('that cannot be made is an error with a code', async () => {
    const file = join(folder(), 'file')
    writeFileSync(file, '')
    await expect(Store.open(join(file, 'data'), most, silentLog)).rejects.toMatchObject({
      code: 'ERR_STORE',
    })
  })
})
