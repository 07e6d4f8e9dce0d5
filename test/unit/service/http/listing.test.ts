import { expect, it } from 'vitest'
import { listPage } from '../../../../src/service/http/stored-entries.js'

const info = (n: number, name = '') => ({
  id: `t-${n.toString(16).padStart(64, '0')}`,
  createdAt: new Date(1_700_000_000_000 + Math.floor(n / 3)).toISOString(),
  name,
})
const all = Array.from({ length: 25 }, (_, n) => info(n))

it('pages that follow each other hold every record once, in order', () => {
  const pages = [listPage(all, { limit: 10 })]
  while (pages.at(-1)!.next !== null) pages.push(listPage(all, { limit: 10, after: pages.at(-1)!.next! }))
  expect(pages.map(({ page }) => page.length)).toEqual([10, 10, 5])
  expect(pages.flatMap(({ page }) => page)).toEqual(all)
})

it('a page continues after a record that was removed meanwhile', () => {
  const { next } = listPage(all, { limit: 10 })
  const left = all.filter((_, n) => n !== 9)
  // Records of the same millisecond may come twice.
  expect(listPage(left, { limit: 100, after: next! }).page).toEqual(all.slice(10))
  expect(listPage(all.slice(0, 5), { limit: 100, after: next! })).toEqual({ page: [], next: null })
})

it('a page has at least one record, and ends with the one that takes it past 2^20 characters', () => {
  const long = Array.from({ length: 8 }, (_, n) => info(n, 'x'.repeat(400_000)))
  expect(listPage(long, { limit: 1000 }).page).toHaveLength(3)
  expect(listPage([info(0, 'x'.repeat(3_000_000)), info(1)], { limit: 1000 }).page).toHaveLength(1)
})
