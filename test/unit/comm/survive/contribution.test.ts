import { expect, it } from 'vitest'
import {
  decodeContribution,
  encodeContribution,
  type SurvivorContribution,
} from '../../../../src/comm/survive/contribution.js'
import { RankweaveError } from '../../../../src/errors.js'

const contribution: SurvivorContribution = {
  kind: 'shrink',
  flag: -2,
  acknowledged: 3,
  counter: 2 ** 30,
  returned: -1,
}

it('a contribution is what was encoded', () => {
  expect(decodeContribution(encodeContribution(contribution))).toEqual(contribution)
})

it.each([0, 4, 19, 21])('%i bytes are no contribution', (length) => {
  const decode = () => decodeContribution(new Uint8Array(length))
  expect(decode).toThrow(RankweaveError)
  expect(decode).toThrow(`a contribution: expected 20 bytes, got ${length}`)
})
