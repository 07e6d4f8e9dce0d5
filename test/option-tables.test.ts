import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { pagesOfCommands } from '../scripts/command-tables.js'
import { optionPages, pageWithOptions } from '../scripts/option-tables.js'
import { commands } from '../src/cli/commands/commands.js'

describe('tables of options in docs', () => {
  it.each(optionPages)('docs/%s has those that the code checks by (npm run docs:options)', (page) => {
    const text = readFileSync(new URL(`../docs/${page}`, import.meta.url), 'utf8')
    expect(text).toBe(pageWithOptions(page, text))
  })
})

describe('docs/commands.md', () => {
  it.each(commands)('$name is on the page that is linked', ({ name }) => {
    const page = readFileSync(new URL(`../docs/${pagesOfCommands[name]}.md`, import.meta.url), 'utf8')
    expect(page).toMatch(new RegExp(`rankweave ${name}\\b`))
  })
})
