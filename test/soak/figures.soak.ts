import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { figurePages, pageOfToday, pageUrl } from '../../scripts/figures.js'

it.each(figurePages)('%s has the figures of today; if not, npm run figures', async (page) => {
  expect(readFileSync(pageUrl(page), 'utf8')).toBe(await pageOfToday(page))
})
