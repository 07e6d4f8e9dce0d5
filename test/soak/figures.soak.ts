import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { figurePages, pageOfToday, pageUrl, pictures } from '../../scripts/figures.js'

it.each(figurePages)('%s has the figures of today; if not, npm run figures', async (page) => {
  expect(readFileSync(pageUrl(page), 'utf8')).toBe(await pageOfToday(page))
})

it.each(pictures)('docs/$file is what its command draws', async ({ file, draw }) => {
  expect(readFileSync(pageUrl(file), 'utf8')).toBe(await draw())
})
