import { expect, test } from 'vitest'
import { cMutants } from '../../../bench/mutants/c-mutants.js'

/** The body of a function with one change each, which `m` chooses. */
function chosenIn(body: string): string[] {
  const text = `void f(void) {${body}}`
  return cMutants(text).map(({ start, end, chosen }) =>
    (text.slice(0, start) + chosen('m') + text.slice(end)).slice(14, -1),
  )
}

test.each([
  ['if (a) return;', ['if (m || (a)) return;', 'if (!m && (a)) return;', 'if (m ? !(a) : !!(a)) return;']],
  ['for (int i = 0; i < n; i++) break;', ['for (int i = 0; m ? (i <= n) : (i < n); i++) break;']],
  ['*x = f(1);', ['{ if (!m) *x = f(1); }', '{ if (m) *x = f((1 + 1)); else *x = f(1); }']],
  ['else f(x);', ['else { if (!m) f(x); }']],
  ['i++;', ['{ if (!m) i++; }']],
  ['return a - *b;', ['{ if (m) return a + *b; else return a - *b; }']],
  ['const int *x = a + n;', ['const int *x = m ? (a - n) : (a + n);']],
  ['case 1: f("1 + 2;"); /* 3; */', ['case 1: { if (!m) f("1 + 2;"); } /* 3; */']],
])('cMutants changes %j to %j', (body, expected) => {
  expect(chosenIn(body)).toEqual(expected)
})

test('cMutants leaves declarations and lines for the preprocessor alone', () => {
  const inside =
    'static int a = 1; int b[2]; int c[] = {3, 4}; int d = 5, e = 6;\n#if A > 7 && \\\n B < 8\n#endif\n'
  expect(cMutants(`enum { A = 1 };\nint b[] = {1 + 2};\nint f(void) {${inside}}`)).toEqual([])
})

test('cMutants knows the line of a change', () => {
  expect(cMutants('int f(void) {\n  return 1;\n}\n').map(({ line, change }) => [line, change])).toEqual([
    [2, 'return 1; -> return (1 + 1);'],
  ])
})
