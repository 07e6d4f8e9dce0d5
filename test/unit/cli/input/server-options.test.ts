import { hostname } from 'node:os'
import { describe, expect, it } from 'vitest'
import { listenOf } from '../../../../src/cli/input/server-options.js'
import { isRankweaveError } from '../../../../src/errors.js'

describe('listenOf', () => {
  it('an address and a port; of an address that stands for all, others dial the name of the host', () => {
    expect(listenOf({})).toBeUndefined()
    expect(listenOf({ listen: '10.0.0.1:7000' })).toEqual({ host: '10.0.0.1', port: 7000 })
    expect(listenOf({ listen: '[::1]:0' })).toEqual({ host: '::1', port: 0 })
    expect(listenOf({ listen: '0.0.0.0:1' })).toEqual({
      host: '0.0.0.0',
      port: 1,
      advertisedHost: hostname(),
    })
    expect(listenOf({ listen: '0.0.0.0:1', advertise: 'login' })?.advertisedHost).toBe('login')
    expect(listenOf({ listen: '0.0.0.0:1', advertise: 'fe80::1' })?.advertisedHost).toBe('fe80::1')
  })

  it.each([
    { listen: '7000' },
    { listen: 'host:70000' },
    { listen: '::1:80' },
    { listen: 'a b:80' },
    { listen: 'host:' },
    { advertise: 'login' },
    { listen: 'host:1', advertise: 'login:7000' },
    { listen: 'host:1', advertise: 'ws://login' },
    { listen: 'host:1', advertise: 'a b' },
    { listen: 'host:1', advertise: '' },
    { listen: 'host:1', tlsCert: 'cert.pem' },
  ])('refuses %j', (given) => {
    expect(() => listenOf(given)).toThrow(
      expect.toSatisfy((error: unknown) => isRankweaveError(error, 'ERR_USAGE')),
    )
  })
})
