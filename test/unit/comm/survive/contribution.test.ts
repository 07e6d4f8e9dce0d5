import { describe, expect, it } from 'vitest'
import {
  decodeContribution,
  encodeContribution,
  type SurvivorContribution,
} from '../../../../src/comm/survive/survival.js'

const contribution: SurvivorContribution = {
  kind: 'shrink',
  flag: -2,
  acknowledged: 3,
  counter: 2 ** 30,
  returned: -1,
  rowsDigest: '',
}
/** Process 1 of three with two ranks each. */
const layout = { firstRank: Int32Array.of(0, 2, 4, 6) }
const contributor = { process: 1, layout, hasRows: false }

it.each([
  ['of shrink', contribution, false],
  ['of shrink with the digest of rows', { ...contribution, rowsDigest: '0a'.repeat(32) }, true],
  ['of agree', { ...contribution, kind: 'agree', counter: 0, returned: 2 }, true],
  ['of both', { ...contribution, kind: 'mixed', counter: 0, returned: 3 }, false],
] as const)('a contribution %s is what was encoded', (_, given, hasRows) => {
  expect(decodeContribution(encodeContribution(given), { ...contributor, hasRows })).toEqual(given)
})

describe('the sender is named of a contribution that has', () => {
  const bytesOf = (given: Partial<SurvivorContribution>) => encodeContribution({ ...contribution, ...given })
  const words = (...given: number[]) => new Uint8Array(Int32Array.from(given).buffer)

  it.each([
    ['no byte', new Uint8Array(0), '20 bytes, got 0'],
    ['three bytes', new Uint8Array(3), '20 bytes, got 3'],
    ['a byte less', bytesOf({}).subarray(1), '20 bytes, got 19'],
    ['a byte more', new Uint8Array(21), '20 bytes, got 21'],
    ['a digest where there are no rows', bytesOf({ rowsDigest: '0a'.repeat(32) }), '20 bytes, got 52'],
    ['no call that there is', words(3, 0, 0, 0, -1), 'a call of survivors, got 3'],
    ['losses below 0', bytesOf({ acknowledged: -1 }), 'a number of losses, got -1'],
    ['no name for the communicator', bytesOf({ counter: 0 }), 'a counter of shrink, got 0'],
    ['a name below 0', bytesOf({ counter: -7 }), 'a counter of shrink, got -7'],
    ['a name that is not needed', bytesOf({ kind: 'agree' }), 'a counter of agree, got 1073741824'],
    ['a rank of the process before', bytesOf({ returned: 1 }), 'a rank that it hosts or -1, got 1'],
    ['a rank of the process after', bytesOf({ returned: 4 }), 'a rank that it hosts or -1, got 4'],
    ['no rank', bytesOf({ returned: -2 }), 'a rank that it hosts or -1, got -2'],
  ])('%s', (_, bytes, fault) => {
    expect(() => decodeContribution(bytes, contributor)).toThrow(
      expect.objectContaining({
        code: 'ERR_PROTOCOL',
        message: expect.stringContaining(`a contribution of process 1: expected ${fault}`),
        details: { process: 1 },
      }),
    )
  })
})
