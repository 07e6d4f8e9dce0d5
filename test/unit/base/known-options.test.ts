import { describe, expect, it } from 'vitest'
import { requireKnownOptions } from '../../../src/base/known-options.js'
import { refusal } from '../../support/refusal.js'

const known = { ranks: true, processes: true, eagerLimitBytes: true } as const

describe('requireKnownOptions', () => {
  it('accepts options among the known ones, in any number', () => {
    requireKnownOptions('call', {}, known)
    requireKnownOptions('call', { ranks: 1, processes: undefined }, known)
  })

  it.each([
    ['rank', "got 'rank' (did you mean 'ranks'?)"],
    ['eagerLimitbytes', "got 'eagerLimitbytes' (did you mean 'eagerLimitBytes'?)"],
    ['procs', "got 'procs' (did you mean 'processes'?)"],
    ['pigeons', "got 'pigeons'"],
    ['toString', "got 'toString'"],
    ['x'.repeat(100_000), "got 'xxx"],
  ])('refuses %.20s and names the nearest option, if any is near', (name, message) => {
    expect(() => requireKnownOptions('call', { [name]: 1 }, known)).toThrow(
      refusal('ERR_ARGUMENT', `call: expected options among ranks, processes, eagerLimitBytes, ${message}`),
    )
  })

  it.each([[[1, 2]], [new Float64Array(2)], [new Float64Array(0)]])(
    'says where the receive buffer goes if %j stands for the options',
    (buffer) => {
      const message = 'call: expected an object of options; the receive buffer goes in { into: buffer }'
      expect(() => requireKnownOptions('call', buffer, { into: true })).toThrow(
        refusal('ERR_ARGUMENT', message),
      )
      expect(() => requireKnownOptions('call', buffer, known)).toThrow('call: expected an object of options')
    },
  )

  it.each([undefined, null, 3])('refuses %s, which has no options', (options) => {
    expect(() => requireKnownOptions('call', options, known)).toThrow('call: expected an object of options')
  })
})
