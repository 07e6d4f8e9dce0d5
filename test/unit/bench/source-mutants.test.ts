import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { equivalents } from '../../../bench/mutants/equivalents.js'
import { applied, lineOf, sourceMutants } from '../../../bench/mutants/source-mutants.js'

const mutated = (text: string): string[] => sourceMutants(text).map((mutant) => applied(text, mutant))

test.each([
  ['a < b', ['a <= b']],
  ['a === b && c', ['a === b || c', 'a !== b && c']],
  ['!a', ['a']],
  ['i++', ['i--']],
  ['a ? b : c', ['(a) ? c : b']],
  ['x = 1', [';', 'x = (1 + 1)']],
  ['f = new Int32Array(n + 1)', [';', 'f = new Int32Array(n - 1)']],
  ['a < -1', ['a <= -1', 'a < 1']],
  ['call(true)', [';', 'call(false)']],
  ['if (a) return', ['if (true) return', 'if (false) return', 'if (a) ;']],
  ['for (;;) { break }', ['for (;;) { ; }']],
  ["throw new Error('1' + 2)", [';']],
])('sourceMutants changes %j to %j', (text, expected) => {
  expect(mutated(text)).toEqual(expected)
})

test('sourceMutants leaves types, imports and template strings alone', () => {
  expect(mutated("import { a } from 'a'\ntype A = 1 | 2\ninterface B { readonly c: 3 }")).toEqual([])
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the text is a source.
  expect(mutated('const a: 1 | 2 = `${b + 1}`')).toEqual([])
})

test('sourceMutants knows the line of a change', () => {
  expect(sourceMutants('a\nb\nc < d').map(({ line }) => line)).toEqual([3])
})

test('every mutant that is known to be without effect is one of its source', () => {
  for (const { path, line, replacement } of equivalents) {
    const text = readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')
    const found = sourceMutants(text).filter(
      (mutant) => lineOf(text, mutant).split('\n')[0] === line && mutant.replacement === replacement,
    )
    expect([path, line, found.length > 0]).toEqual([path, line, true])
  }
})
