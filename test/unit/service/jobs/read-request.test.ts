import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { planRequest } from '../../../../src/client/protocol/http.js'
import { type PlanWords, understand } from '../../../../src/client/protocol/plan-words.js'
import { parseMachine } from '../../../../src/machine/machine-text.js'
import { ownVersion } from '../../../../src/package-paths.js'
import { planIdOf } from '../../../../src/service/jobs/jobs.js'
import { readRequest, withStrategy } from '../../../../src/service/jobs/task.js'
import { idOf } from '../../../support/stored-plans.js'

const topology = idOf('t', 0)
const machine = 'cluster:nodes=2,cores=8,profile=simgrid-fast'
const reading = (request: object) => readRequest(withStrategy(planRequest.parse({ topology, ...request })))
const read = (request: object) => reading(request).read

describe('the key of a request', () => {
  const friends = { k: 2, mode: 'agnostic', theta: null, dedupe: true, elide: true, engine: 'greedy' }
  const allgather = { machine: null, operation: 'neighbor-allgather', bytes: null }

  // Stored plans are named by these texts: another order of fields, or another default, loses them.
  it.each([
    [{}, { strategy: 'direct', ...allgather }],
    [
      { machine, bytes: 64 },
      { strategy: 'auto', ...allgather, machine, bytes: 64 },
    ],
    [
      { operation: 'neighbor-alltoall', machine, bytes: 64 },
      { strategy: 'auto', ...allgather, machine, operation: 'neighbor-alltoall', bytes: 64 },
    ],
    [
      { operation: 'neighbor-reduce', machine },
      { strategy: 'direct', ...allgather, operation: 'neighbor-reduce', machine },
    ],
    [
      { strategy: 'common-neighbor' },
      { strategy: 'common-neighbor', ...allgather, ...friends, labels: null },
    ],
    [
      { k: 4, engine: 'improved', labels: 7, theta: 3, dedupe: false, machine },
      {
        ...{ strategy: 'common-neighbor', ...allgather, machine, ...friends },
        ...{ k: 4, mode: 'aware', theta: 3, dedupe: false, engine: 'improved', labels: 7 },
      },
    ],
    [{ strategy: 'routed:first=lowest' }, { strategy: 'routed:first=lowest', ...allgather }],
    [{ strategy: 'common-neighbor:k=4' }, { strategy: 'common-neighbor:k=4', ...allgather }],
    [
      { strategy: 'direct', operation: 'neighbor-alltoall' },
      { strategy: 'direct', ...allgather, operation: 'neighbor-alltoall' },
    ],
    [
      { strategy: 'auto', machine, bytes: 64 },
      { strategy: 'auto', ...allgather, machine, bytes: 64 },
    ],
    [
      { strategy: 'direct', machine, map: 'auto' },
      { strategy: 'direct', ...allgather, machine, map: 'auto' },
    ],
  ])('of %j is its JSON with the defaults written out', (request, expected) => {
    const { key } = read(request)
    expect(key).toBe(JSON.stringify({ topology, ...expected }))
    const digest = createHash('sha256').update(`${ownVersion()}\n${key}`).digest('hex')
    expect(planIdOf(read(request))).toBe(`p-${digest}`)
  })

  it('is the same whether defaults are written or left out', () => {
    const written = read({ k: 2, mode: 'agnostic', elide: true, engine: 'greedy' })
    expect(written.key).toBe(read({ strategy: 'common-neighbor' }).key)
  })
})

it('a request that was read is plain data: it crosses to a worker thread', () => {
  const request = read({ strategy: 'auto:budget=3', machine, bytes: 64 })
  expect(structuredClone(request)).toEqual(request)
  expect(request).toMatchObject({ strategy: { kind: 'auto', budget: 3 }, comparedBytes: 64, machine })
})

it.each(['', 'graph.map', [1, 0], null])('map %j is refused', (map) => {
  expect(planRequest.safeParse({ topology, machine, map }).success).toBe(false)
})

it('a large machine is counted and not laid out', () => {
  const counted = [
    ['cluster:nodes=16777216,cores=1', 2 ** 24],
    ['cluster:cores=1048576x8/8', 2 ** 24],
    ['torus:dims=4096x4096', 2 ** 24],
    ['clos:radix=256,levels=3', 2 ** 22],
  ] as const
  for (const [text, cores] of counted) {
    const before = process.memoryUsage().arrayBuffers
    const machine = `${text},profile=simgrid-fast`
    const { read: asked, nodes } = reading({ strategy: 'auto', machine, bytes: 4 })
    expect([asked.machine, nodes?.cores]).toEqual([machine, cores])
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(2 ** 20)
  }
})

describe('errors name fields as the caller spells them', () => {
  type Message = (of: (name: string) => string) => string
  const rows: [object, Message][] = [
    [{ strategy: 'direct', bytes: 4 }, (of) => `${of('bytes')} is for ${of('strategy')} auto`],
    [{ strategy: 'auto', bytes: 4 }, (of) => `${of('strategy')} auto: expected ${of('machine')} with a`],
    [{ strategy: 'auto', machine }, (of) => `${of('strategy')} auto: expected ${of('bytes')}, the length`],
    [
      { strategy: 'auto:bytes=8', machine, bytes: 4 },
      (of) => `${of('bytes')}: expected once, got 4 and ${of('strategy')} auto:bytes=8`,
    ],
    [{ mode: 'aware' }, (of) => `${of('mode')} aware needs ${of('machine')}, which defines the nodes`],
    [{ map: 'auto' }, (of) => `${of('map')}: expected ${of('machine')}, on whose cores ranks are placed`],
    [{ strategy: 'direct', k: 4 }, (of) => `${of('k')} is for ${of('strategy')} common-neighbor, not for`],
    [{ engine: 'best' }, (of) => `${of('engine')}: expected one of greedy, improved, exact`],
  ]

  it.each(rows)('%j', (request, message) => {
    const refused = (text: string) =>
      expect.objectContaining({ code: 'ERR_USAGE', message: expect.stringContaining(text) })
    expect(() => read(request)).toThrow(refused(message((name) => name)))
    const flag = (name: string): string => `--${name}`
    const words = { strategy: 'common-neighbor', ...request } as PlanWords
    const given = words.machine === undefined ? words : { ...words, machine: parseMachine(machine) }
    expect(() => understand(given, flag)).toThrow(refused(message(flag)))
  })
})
