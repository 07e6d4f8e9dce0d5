import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { algorithmPage, pageWithAlgorithms } from '../scripts/algorithm-tables.js'

it('the tables of docs/collective-algorithms.md are those of the registry; if not, npm run docs:algorithms', () => {
  const text = readFileSync(algorithmPage, 'utf8')
  expect(text).toBe(pageWithAlgorithms(text))
})
