import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { figureLines, pageOfToday, pageUrl, pictures } from '../scripts/figures.js'

const isCheap = ({ isLong = false }: { readonly isLong?: boolean }) => !isLong

describe('figures that take little time to compute', () => {
  const pages = [...new Set(figureLines.filter(isCheap).map(({ page }) => page))]

  it.each(pages)('%s has those of today; if not, npm run figures', async (page) => {
    expect(readFileSync(pageUrl(page), 'utf8')).toBe(await pageOfToday(page, isCheap))
  })

  it.each(pictures.filter(isCheap))('docs/$file is what its command draws', async ({ file, draw }) => {
    expect(readFileSync(pageUrl(file), 'utf8')).toBe(await draw())
  })
})
