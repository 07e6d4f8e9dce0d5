import { isRankweaveError, type WebSocketOptions, websocket } from 'rankweave'
import { describe, expect, it } from 'vitest'

describe('websocket', () => {
  it('has as many processes as ranksPerProcess or nodes, else 2', () => {
    expect(websocket().processes).toBe(2)
    expect(websocket({ ranksPerProcess: [1, 2, 3] }).processes).toBe(3)
    expect(websocket({ nodes: ['a', 'b', 'b', 'a'] }).options.nodes).toEqual(['a', 'b', 'b', 'a'])
  })

  it.each<[WebSocketOptions, 'ERR_WORLD' | 'ERR_ARGUMENT']>([
    [{ processes: 0 }, 'ERR_WORLD'],
    [{ processes: 257 }, 'ERR_WORLD'],
    [{ processes: 2, ranksPerProcess: [1] }, 'ERR_WORLD'],
    [{ processes: 2, nodes: ['a'] }, 'ERR_WORLD'],
    [{ silenceMs: 1 }, 'ERR_WORLD'],
    [{ processUrl: 'child.js' as never }, 'ERR_ARGUMENT'],
    [{ process: 2 } as never, 'ERR_ARGUMENT'],
  ])('refuses %j with %s', (options, code) => {
    expect(() => websocket(options)).toThrow(
      expect.toSatisfy((error: unknown) => isRankweaveError(error, code)),
    )
  })

  it('opens no session here', async () => {
    await expect(websocket().open()).rejects.toSatisfy((error) => isRankweaveError(error, 'ERR_FABRIC'))
  })
})
