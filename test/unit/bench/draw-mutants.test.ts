import { expect, test } from 'vitest'
import { drawMutants, placed, type Source } from '../../../bench/mutants/draw-mutants.js'
import { sourceMutants } from '../../../bench/mutants/source-mutants.js'

const lines = (count: number) => Array.from({ length: count }, (_, i) => `f(${i} < b)`).join('\n')
const module = (path: string, count: number): Source => ({ path, text: `() => {\n${lines(count - 2)}\n}` })
const sources: readonly Source[] = [
  module('src/a/one.ts', 60),
  module('src/a/deep/two.ts', 60),
  module('src/main.ts', 60),
  { path: 'src/b/c/three.c', text: `int f(void) {\n${'  return 1 + a;\n'.repeat(58)}}` },
]

test('drawMutants draws of each room in proportion to its lines, for the same seed the same', () => {
  const drawn = drawMutants(sources, 40, 1, () => true)
  const countOf = (start: string) => drawn.filter(({ path }) => path.startsWith(start)).length
  expect(['src/a/', 'src/main.ts', 'src/b/'].map(countOf)).toEqual([20, 10, 10])
  expect(drawn.map(({ id }) => id)).toEqual(Array.from({ length: 40 }, (_, i) => i + 1))
  expect(JSON.stringify(drawMutants(sources, 40, 1, () => true))).toBe(JSON.stringify(drawn))
  expect(JSON.stringify(drawMutants(sources, 40, 2, () => true))).not.toBe(JSON.stringify(drawn))
})

test('drawMutants draws none that overlap, and none in C that does not compile', () => {
  const drawn = drawMutants(sources, 400, 1, (_, text) => !text.includes('return (1 + 1)'))
  const overlapping = drawn.filter(({ path, start, end, id }) =>
    drawn.some((other) => other.path === path && other.id !== id && other.start < end && start < other.end),
  )
  expect(overlapping).toEqual([])
  const inC = drawn.filter(({ path }) => path.endsWith('.c'))
  expect(new Set(inC.map(({ change }) => change))).toEqual(new Set(['return 1 + a; -> return 1 - a;']))
})

test('placed chooses each mutant by its number, and keeps the numbers of lines', () => {
  const text = '#!/bin/node\n() => a ? b++ : !c'
  const path = 'src/a/b/c.ts'
  const mutants = sourceMutants(text).slice(-2)
  const drawn = mutants.map((mutant, i) => ({ ...mutant, path, id: i + 1 }))
  expect(placed({ path, text }, drawn).split('\n')).toEqual([
    '#!/bin/node',
    `import { isMutant } from '${'../'.repeat(2)}mutant-switch.js'; () => a ? (isMutant(1) ? b-- : b++) : (isMutant(2) ? c : !c)`,
  ])
})
