import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { silentLog } from '../../src/service/log.js'
import { WorldService } from '../../src/service/worlds/world-service.js'
import { loadWorlds } from '../support/world-load.js'

it('2,000 members of 100 worlds split, meet and free without an error, and memory comes back', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const service = new WorldService({
    tenants: { find: () => ({ id: 'local' }) },
    log: silentLog,
    // All connect in one turn.
    limits: { maxPendingSockets: 2_000 },
  })
  const { calls, seconds, p99Ms, heapBytes } = await loadWorlds(
    service,
    { worlds: 100, members: 20, rounds: 1 },
    collect,
  )
  console.log(
    `${Math.round(calls / seconds)} calls per second, p99 ${p99Ms.toFixed(0)} ms, heap ${heapBytes.join(' -> ')}`,
  )
  expect(heapBytes[1]).toBeLessThan(heapBytes[0] * 1.1)
  await service.close()
})
