import { expect } from 'vitest'

/** What `toThrow` and `toMatchObject` expect of a RankweaveError, and of its message. */
export const refusal = (code: string, message?: string | RegExp) =>
  expect.objectContaining({
    ...{ name: 'RankweaveError', code },
    ...(message === undefined ? {} : { message: matching(message) }),
  })

const matching = (text: string | RegExp) =>
  typeof text === 'string' ? expect.stringContaining(text) : expect.stringMatching(text)
