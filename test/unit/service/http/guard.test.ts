import { describe, expect, it } from 'vitest'
import { bearerOf, Guard, type GuardOptions, isLoopback } from '../../../../src/service/http/guard.js'

function guardOf(options: Partial<GuardOptions>): (host?: string, origin?: string) => 'passes' | string {
  const guard = new Guard({
    host: '127.0.0.1',
    isTls: false,
    publicUrl: undefined,
    allowedOrigins: [],
    ...options,
  })
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

describe('a service of this host', () => {
  const check = guardOf({})

  it.each(['127.0.0.1:7878', 'localhost:7878', 'LOCALHOST', '[::1]:7878', '127.0.0.1'])(
    'is known as %s',
    (host) => {
      expect(check(host)).toBe('passes')
    },
  )

  it.each([
    'evil.example',
    'evil.example:7878',
    'localhost.evil.example',
    'localhost@evil.example',
    '127.0.0.1.nip.example:7878',
    '192.168.0.7:7878',
    '127.0.0.1:7878:80',
    '',
  ])('is not known as "%s"', (host) => {
    expect(check(host)).toBe('ERR_ORIGIN')
  })

  it('needs the name of a host', () => {
    expect(check(undefined)).toBe('ERR_ORIGIN')
  })

  it('lets its own pages in, of the same scheme, name and port', () => {
    expect(check('localhost:7878', 'http://localhost:7878')).toBe('passes')
    for (const origin of [
      'https://localhost:7878',
      'http://localhost:7879',
      'http://127.0.0.1:7878',
      'http://localhost',
      'http://evil.example',
      'null',
      '',
    ])
      expect(check('localhost:7878', origin), origin).toBe('ERR_ORIGIN')
  })
})

describe('a service of other hosts', () => {
  it('is known by its own name, and in TLS its pages are https', () => {
    const check = guardOf({ host: 'Plans.example.org', isTls: true })
    expect(check('plans.example.org:443')).toBe('passes')
    expect(check('localhost')).toBe('ERR_ORIGIN')
    expect(check('plans.example.org', 'https://plans.example.org')).toBe('passes')
    expect(check('plans.example.org', 'http://plans.example.org')).toBe('ERR_ORIGIN')
  })

  it('on all addresses is known by any address and by localhost, which cannot be rebound, but not by any other name', () => {
    for (const host of ['0.0.0.0', '::']) {
      const check = guardOf({ host })
      for (const address of ['10.1.2.3:7878', '[fe80::1]:7878', 'localhost:7878'])
        expect(check(address), address).toBe('passes')
      for (const name of ['evil.example', 'localhost.evil', '[evil]'])
        expect(check(name), name).toBe('ERR_ORIGIN')
    }
  })

  it('is known by the name of its proxy, and lets pages of that and of the allowed origins in', () => {
    const options = {
      publicUrl: 'https://plans.example.org/',
      allowedOrigins: ['https://lab.example.org:8443'],
    }
    const check = guardOf(options)
    expect(check('plans.example.org')).toBe('passes')
    expect(check('plans.example.org', 'https://plans.example.org')).toBe('passes')
    expect(check('localhost:1', 'https://lab.example.org:8443')).toBe('passes')
    expect(check('lab.example.org')).toBe('ERR_ORIGIN')
    expect(check('localhost:1', 'https://lab.example.org')).toBe('ERR_ORIGIN')
    const guard = new Guard({ host: '127.0.0.1', isTls: false, ...options })
    expect(guard.isForeign('https://lab.example.org:8443')).toBe(true)
    expect(guard.isForeign(undefined)).toBe(false)
    expect(guard.isForeign('https://evil.example')).toBe(false)
  })

  it.each([
    'plans.example.org',
    'ftp://plans.example.org',
    'https://plans.example.org/path',
    '*',
    'null',
    '',
  ])('is not started with "%s" as an origin', (text) => {
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
  for (const text of [
    undefined,
    '',
    'abc',
    'Basic abc',
    'Bearer',
    'Bearer ',
    'Bearer a b',
    'Bearer a,b',
    ' Bearer a',
  ])
    expect(of(text), text).toBeUndefined()
})
