import { describe, expect, it } from 'vitest'
import { isRankweaveError } from '../../../../src/errors.js'
import { parseSettings, silenceLimits } from '../../../../src/launch/websocket/settings.js'
import { inheritedFlags } from '../../../../src/launch/websocket/start.js'

describe('parseSettings', () => {
  it('returns what was written', () => {
    const settings = { ranks: 4, ranksPerProcess: [1, 3], creditBytes: 0 }
    expect(parseSettings(JSON.stringify(settings))).toEqual(settings)
  })

  it.each([
    '',
    'null',
    '7',
    '{}',
    '{"ranks":0}',
    '{"ranks":1e9}',
    '{"ranks":1,"ranksPerProcess":[-1]}',
    '{"ranks":1,"ranksPerProcess":1}',
    '{"ranks":1,"ranksPerProcess":null}',
    '{',
  ])('refuses %j', (text) => {
    expect(() => parseSettings(text)).toThrow(
      expect.toSatisfy((error: unknown) => isRankweaveError(error, 'ERR_PROTOCOL')),
    )
  })
})

it('several heartbeats fit into the time of silence, however short', () => {
  for (const silenceMs of [100, 30_000]) {
    const { heartbeatMs } = silenceLimits(silenceMs)
    expect(heartbeatMs * 4).toBeLessThanOrEqual(silenceMs)
    expect(heartbeatMs).toBeGreaterThanOrEqual(10)
  }
})

it('processes inherit the flags of Node but those of a program given as text and of a debugger', () => {
  const flags = [
    '--import',
    'tsx',
    '--input-type=module',
    '--eval',
    'code',
    '--inspect=0',
    '--stack-size=2000',
  ]
  expect(inheritedFlags(flags)).toEqual(['--import', 'tsx', '--stack-size=2000'])
  expect(inheritedFlags(['-e', 'code', '--eval=code', '--expose-gc'])).toEqual(['--expose-gc'])
})
