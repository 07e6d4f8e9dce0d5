import { expect, it } from 'vitest'
import { seededRandom } from '../../../../src/base/random.js'
import { TenantQueue } from '../../../../src/service/jobs/worker-pool.js'

it('tenants take turns, however many items one of them has; items of one keep their order', () => {
  const queue = new TenantQueue<string>()
  for (const item of ['a1', 'a2', 'a3', 'a4']) queue.add('a', item)
  queue.add('b', 'b1')
  queue.add('c', 'c1')
  expect([queue.take(), queue.take()]).toEqual(['a1', 'b1'])
  // One that comes again waits behind those that wait.
  queue.add('b', 'b2')
  expect(Array.from({ length: 6 }, () => queue.take())).toEqual(['c1', 'a2', 'b2', 'a3', 'a4', undefined])
  expect(queue.size).toBe(0)
})

it('counts what it has, also when items are removed', () => {
  const random = seededRandom(3)
  const queue = new TenantQueue<number>()
  const model = new Map<string, number[]>()
  for (let item = 0; item < 300; item++) {
    const tenant = 'abcd'[Math.floor(random() * 4)]
    const items = model.get(tenant) ?? []
    model.set(tenant, items)
    const luck = random()
    if (luck < 0.5) {
      queue.add(tenant, item)
      items.push(item)
    } else if (luck < 0.75) {
      const one = items[Math.floor(random() * items.length)] ?? -1
      queue.remove(tenant, one)
      model.set(
        tenant,
        items.filter((other) => other !== one),
      )
    } else {
      const taken = queue.take()
      for (const [owner, list] of model) if (list[0] === taken) model.set(owner, list.slice(1))
    }
    for (const [owner, list] of model) expect(queue.sizeOf(owner)).toBe(list.length)
  }
  expect(queue.size).toBe([...model.values()].reduce((sum, { length }) => sum + length, 0))
})
