import { expect, test } from 'vitest'
import { type SourceMutant, sourceMutants } from '../../../bench/mutants/source-mutants.js'

/** The body of a function with one change each, which `m` chooses. */
function chosenIn(body: string): string[] {
  const text = `function f() {${body}}`
  return sourceMutants(text).map(({ start, end, chosen }: SourceMutant) =>
    (text.slice(0, start) + chosen('m') + text.slice(end)).slice(14, -1),
  )
}

test.each([
  ['x(a < b)', ['{ if (!m) x(a < b) }', 'x((m ? a <= b : a < b))']],
  ['a < b', ['{ if (m) a <= b; else a < b }']],
  [
    'return a === b && c',
    ['return (m ? a === b || c : a === b && c)', 'return (m ? a !== b : a === b) && c'],
  ],
  ['return !a', ['return (m ? a : !a)']],
  ['i++', ['{ if (m) i--; else i++ }']],
  ['for (;;i++);', ['for (;;(m ? i-- : i++));']],
  ['return a ? b : c', ['return (m ? ((a) ? c : b) : a ? b : c)']],
  ['x = 1', ['{ if (!m) x = 1 }', 'x = (m ? (1 + 1) : 1)']],
  ['return new Int32Array(n + 1)', ['return new Int32Array((m ? n - 1 : n + 1))']],
  ['return a < -1', ['return (m ? a <= -1 : a < -1)', 'return a < (m ? 1 : -1)']],
  ['return { 1: true }', ['return { 1: (m ? false : true) }']],
  [
    'if (a) return; else y()',
    [
      'if ((m ? true : a)) return; else y()',
      'if ((m ? false : a)) return; else y()',
      'if (a) { if (!m) return } else y()',
      'if (a) return; else { if (!m) y() }',
    ],
  ],
  ['for (;;) { break }', ['for (;;) { { if (!m) break } }']],
  ["throw new Error('1' + 2)", ["{ if (!m) throw new Error('1' + 2) }"]],
  ['return (await a) + (yield)', ['return (m ? (await a) - (yield) : (await a) + (yield))']],
])('sourceMutants changes %j to %j', (body, expected) => {
  expect(chosenIn(body)).toEqual(expected)
})

test('sourceMutants changes functions and fields of instances only', () => {
  const text = 'const a = 1\nclass B { static c = 2; d = 3 }\nconst e = (f = 4) => 5'
  expect(sourceMutants(text).map(({ change }) => change)).toEqual([3, 4, 5].map((n) => `${n} -> (${n} + 1)`))
})

test('sourceMutants leaves types, imports and template strings alone', () => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the text is a source.
  expect(chosenIn('type A = 1 | 2; const a: 1 | 2 = `${b + 1}`')).toEqual([])
})

test('sourceMutants knows the line of a change', () => {
  expect(sourceMutants('() => {\na\nreturn c < d}').map(({ line }) => line)).toEqual([3])
})
