import { describe, expect, it } from 'vitest'
import { bearerOf, Guard, type GuardOptions, isLoopback } from '../../../../src/service/http/guard.js'

function guardOf(options: Partial<GuardOptions>): (host?: string, origin?: string) => 'passes' | string {
  const own = { host: '127.0.0.1', isTls: false, publicUrl: undefined, allowedOrigins: [] }
  const guard = new Guard({ ...own, ...options })
  return (host, origin) => {
    try {
      guard.check({
        headers: { ...(host === undefined ? {} : { host }), ...(origin === undefined ? {} : { origin }) },
      })
      return 'passes'
    } catch (error) {
      return (error as { code: string }).code
    }
  }
}

const proxied = {
  publicUrl: 'https://plans.example.org/',
  allowedOrigins: ['https://lab.example.org:8443'],
}

describe('the name of a service', () => {
  it.each<[string, Partial<GuardOptions>, readonly string[], readonly (string | undefined)[]]>([
    [
      'of this host',
      {},
      ['127.0.0.1:7878', 'localhost:7878', 'LOCALHOST', '[::1]:7878', '127.0.0.1'],
      [
        ...['evil.example', 'evil.example:7878', 'localhost.evil.example', 'localhost@evil.example'],
        ...['127.0.0.1.nip.example:7878', '192.168.0.7:7878', '127.0.0.1:7878:80', '', undefined],
      ],
    ],
    [
      'of another host is its own',
      { host: 'Plans.example.org', isTls: true },
      ['plans.example.org:443'],
      ['localhost'],
    ],
    // Addresses and localhost cannot be rebound.
    ...['0.0.0.0', '::'].map((host): [string, Partial<GuardOptions>, string[], string[]] => [
      `on all addresses, ${host}, is any address and localhost`,
      { host },
      ['10.1.2.3:7878', '[fe80::1]:7878', 'localhost:7878'],
      ['evil.example', 'localhost.evil', '[evil]'],
    ]),
    ['behind a proxy is that of the proxy, too', proxied, ['plans.example.org'], ['lab.example.org']],
  ])('%s', (_, options, own, others) => {
    const check = guardOf(options)
    for (const host of own) expect(check(host), host).toBe('passes')
    for (const host of others) expect(check(host), host).toBe('ERR_ORIGIN')
  })
})

describe('pages that may ask', () => {
  it.each<[string, Partial<GuardOptions>, string, readonly string[], readonly string[]]>([
    [
      'are those of the same scheme, name and port',
      {},
      'localhost:7878',
      ['http://localhost:7878'],
      [
        ...['https://localhost:7878', 'http://localhost:7879', 'http://127.0.0.1:7878', 'http://localhost'],
        ...['http://evil.example', 'null', ''],
      ],
    ],
    [
      'are https where the service is',
      { host: 'Plans.example.org', isTls: true },
      'plans.example.org',
      ['https://plans.example.org'],
      ['http://plans.example.org'],
    ],
    [
      'are those of the proxy and of the allowed origins',
      proxied,
      'plans.example.org',
      ['https://plans.example.org', 'https://lab.example.org:8443'],
      ['https://lab.example.org'],
    ],
  ])('%s', (_, options, host, own, others) => {
    const check = guardOf(options)
    for (const origin of own) expect(check(host, origin), origin).toBe('passes')
    for (const origin of others) expect(check(host, origin), origin).toBe('ERR_ORIGIN')
  })

  it('are foreign when they are of an allowed origin', () => {
    const guard = new Guard({ host: '127.0.0.1', isTls: false, ...proxied })
    const origins = ['https://lab.example.org:8443', undefined, 'https://evil.example']
    expect(origins.map((origin) => guard.isForeign(origin))).toEqual([true, false, false])
  })

  it.each([
    'plans.example.org',
    'ftp://plans.example.org',
    'https://plans.example.org/path',
    '*',
    'null',
    '',
  ])('are not named by "%s", with which no service starts', (text) => {
    for (const options of [{ publicUrl: text }, { allowedOrigins: [text] }])
      expect(() => guardOf(options)).toThrow(expect.objectContaining({ code: 'ERR_USAGE' }))
  })
})

it('addresses of this host', () => {
  for (const host of ['localhost', '::1', '127.0.0.1', '127.9.9.9']) expect(isLoopback(host), host).toBe(true)
  for (const host of ['0.0.0.0', '::', '10.0.0.1', '127.evil.example', '1127.0.0.1', ''])
    expect(isLoopback(host), host).toBe(false)
})

it('a token is what follows Bearer, and nothing else', () => {
  const of = (authorization?: string) =>
    bearerOf({ headers: authorization === undefined ? {} : { authorization } })
  expect(of('Bearer abc-_9')).toBe('abc-_9')
  expect(of('bearer abc')).toBe('abc')
  const none = [
    undefined,
    '',
    'abc',
    'Basic abc',
    'Bearer',
    'Bearer ',
    'Bearer a b',
    'Bearer a,b',
    ' Bearer a',
  ]
  for (const text of none) expect(of(text), text).toBeUndefined()
})
