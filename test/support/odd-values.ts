import { RankweaveError } from '../../src/errors.js'

/** What a caller without types may pass. */
export const oddValues: readonly unknown[] = [
  ...[undefined, null, true, Number.NaN, -1, 1.5, 10n, Symbol('odd'), 'text', 'y'.repeat(100_000)],
  ...[{}, { kind: 'cluster' }, [], [null], [Symbol('odd')], () => 1],
]

/** Those of the odd values with which a call fails in another way than with a code and a short message, and how. */
export function badRefusals(call: (odd: never) => unknown): string[] {
  return oddValues.flatMap((odd) => {
    try {
      call(odd as never)
      return []
    } catch (error) {
      if (!(error instanceof RankweaveError)) return [String(error)]
      const length = error.message.length + JSON.stringify(error.details).length
      return length < 2000 ? [] : [`${error.message.slice(0, 80)}... (${length} characters)`]
    }
  })
}
