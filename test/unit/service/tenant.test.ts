import { describe, expect, it } from 'vitest'
import { isRankweaveError } from '../../../src/errors.js'
import { Tenants, tokensOf } from '../../../src/service/tenant.js'

const one = 'a'.repeat(32)
const other = 'b'.repeat(40)

describe('tenants', () => {
  it('are found by their tokens alone', () => {
    const tenants = new Tenants([one, other])
    expect(tenants.find(one)).toEqual(tenants.find(one))
    expect(tenants.find(one).id).not.toBe(tenants.find(other).id)
    expect(tenants.find(one).id).toMatch(/^[0-9a-f]{32}$/)
    for (const wrong of [undefined, '', one.slice(1), `${one}a`, one.repeat(10_000)])
      expect(() => tenants.find(wrong), `${wrong?.length}`).toThrow(
        expect.objectContaining({ code: 'ERR_TOKEN' }),
      )
  })

  it('without tokens there is one, and whatever token is sent does not matter', () => {
    let needless = 0
    const tenants = new Tenants(null, null, () => needless++)
    expect(tenants.needToken).toBe(false)
    expect([tenants.find(undefined), needless]).toEqual([{ id: 'local' }, 0])
    for (let index = 0; index < 2; index++) expect(tenants.find('anything')).toEqual({ id: 'local' })
    // The log says so once.
    expect(needless).toBe(1)
  })

  it('metrics are shown to the holder of their token, who is no tenant, and to no tenant', () => {
    const metrics = 'm'.repeat(32)
    const tenants = new Tenants([one], metrics)
    tenants.checkMetrics(metrics)
    const shown = (of: Tenants, token: string | undefined) => () => of.checkMetrics(token)
    for (const wrong of [one, undefined, '', `${metrics}m`])
      expect(shown(tenants, wrong)).toThrow(expect.objectContaining({ code: 'ERR_TOKEN' }))
    expect(() => tenants.find(metrics)).toThrow()
    expect(shown(tenants, one)).toThrow('expected the token of metrics: that of a tenant does not show')
    expect(shown(new Tenants([one]), one)).toThrow('none was given to this service (--metrics-token-file)')
    expect(shown(new Tenants(null), undefined)).not.toThrow()
    expect(shown(new Tenants(null, metrics), undefined)).toThrow()
    for (const bad of [one, 'short'])
      expect(() => new Tenants([one], bad)).toThrow(expect.objectContaining({ code: 'ERR_TOKEN' }))
  })

  it('malformed tokens are refused without being repeated', () => {
    for (const token of ['short', `${one} `, `${one}\u0000`, 'x'.repeat(257)]) {
      try {
        new Tenants([token])
        expect.unreachable()
      } catch (error) {
        expect(isRankweaveError(error, 'ERR_TOKEN')).toBe(true)
        expect(String(error)).not.toContain(token)
      }
    }
    expect(() => new Tenants([])).toThrow()
  })

  it('token files have a token a line, comments and empty lines', () => {
    expect(tokensOf(`# for the lab\n${one}\r\n\n  ${other}\n${one}\n`)).toEqual([one, other])
  })
})
