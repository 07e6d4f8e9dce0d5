import { expect, test } from 'vitest'
import { cMutants } from '../../../bench/mutants/c-mutants.js'

/** A line of a function with one change each, which `m` chooses. */
const chosenIn = (line: string): string[] => {
  const text = `  ${line}\n`
  return cMutants(text).map(({ start, end, chosen }) =>
    (text.slice(0, start) + chosen('m') + text.slice(end)).trim(),
  )
}

test.each([
  ['if (f(a)) {', ['if (m || (f(a))) {', 'if (!m && (f(a))) {', 'if (m ? !(f(a)) : !!(f(a))) {']],
  ['for (int i = 0; i < n; i++) break;', ['for (int i = 0; m ? (i <= n) : (i < n); i++) break;']],
  ['*x = f(1);', ['{ if (m) *x = f((1 + 1)); else *x = f(1); }', '{ if (!m) *x = f(1); }']],
  ['else f(x);', ['else { if (!m) f(x); }']],
  ['for (a; b; c) i++;', ['for (a; b; c) { if (!m) i++; }']],
  ['return a - *b;', ['{ if (m) return a + *b; else return a - *b; }']],
  ['const int *x = a + n;', ['const int *x = m ? (a - n) : (a + n);']],
  ['case 1: f("1 + 2;"); /* 3; */', ['case 1: { if (!m) f("1 + 2;"); } /* 3; */']],
  ['static int a = 1; int b[2]; int c[] = {3, 4};', []],
  ['int d = 5, e = 6;', []],
  ['#if A > 7 && \\\n B < 8', []],
])('cMutants changes %j to %j', (line, expected) => {
  expect(chosenIn(line)).toEqual(expected)
})

test('cMutants knows the line of a change', () => {
  expect(cMutants('int f(void) {\n  return 1;\n}\n').map(({ line, change }) => [line, change])).toEqual([
    [2, 'return 1; -> return (1 + 1);'],
  ])
})
