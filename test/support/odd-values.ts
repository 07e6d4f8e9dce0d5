import { RankweaveError } from '../../src/errors.js'

/** What a caller without types may pass. */
export const oddValues: readonly unknown[] = [
  ...[undefined, null, true, Number.NaN, -1, 1.5, 7, 10n, Symbol('odd'), '', 'text', 'y'.repeat(100_000)],
  ...[{}, { kind: 'cluster' }, [], [null], [Symbol('odd')], () => 1],
]

/**
 * Those of the odd values with which a call fails in another way than with a code and a short message, and
 * how.
 */
export function badRefusals(call: (odd: never) => unknown): string[] {
  return oddValues.flatMap((odd) => {
    try {
      call(odd as never)
      return []
    } catch (error) {
      return badRefusal(error)
    }
  })
}

/**
 * As {@link badRefusals}, of calls that may also fail later: promises are awaited, generators run to their
 * end.
 */
export async function badRefusalsInTime(call: (odd: unknown) => unknown): Promise<string[]> {
  const found: string[] = []
  for (const odd of oddValues) found.push(...(await refusalOf(() => call(odd))))
  return found
}

/** How a call fails in another way than with a code and a short message; nothing if it does not. */
export async function refusalOf(call: () => unknown): Promise<string[]> {
  try {
    await consumed(await call())
    return []
  } catch (error) {
    return badRefusal(error)
  }
}

/** Runs generators to their end. */
export async function consumed(value: unknown): Promise<void> {
  const { next, [Symbol.iterator]: each, [Symbol.asyncIterator]: eachLater } = Object(value)
  if (typeof next !== 'function') return
  if (typeof eachLater === 'function') for await (const _ of value as AsyncIterable<unknown>);
  else if (typeof each === 'function') for (const _ of value as Iterable<unknown>);
}

function badRefusal(error: unknown): string[] {
  if (!(error instanceof RankweaveError)) return [String(error)]
  const length = error.message.length + JSON.stringify(error.details).length
  return length < 2000 ? [] : [`${error.message.slice(0, 80)}... (${length} characters)`]
}
