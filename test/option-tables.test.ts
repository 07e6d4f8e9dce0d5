import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { optionPages, pageWithOptions } from '../scripts/option-tables.js'

describe('tables of options in docs', () => {
  it.each(optionPages)('docs/%s has those that the code checks by (npm run docs:options)', (page) => {
    const text = readFileSync(new URL(`../docs/${page}`, import.meta.url), 'utf8')
    expect(text).toBe(pageWithOptions(page, text))
  })
})
