import { erdosRenyiTopology, mooreTopology } from 'rankweave/topology'
import { expect, it } from 'vitest'
import { understand } from '../../../../src/client/protocol/plan-words.js'
import { parseMachine } from '../../../../src/machine/machine-text.js'
import { requestedPlan } from '../../../../src/neighborhood/choose/plan-request.js'

const machine = parseMachine('cluster:nodes=4,cores=64,profile=simgrid-fast')

/** Each search takes more steps than are between two reports. */
it.each([
  ['improved', 'improving', 4, mooreTopology({ dims: [12, 12], radius: 3 })],
  ['exact', 'listing', 3, erdosRenyiTopology({ ranks: 64, density: 0.4 })],
] as const)(
  'a search by engine %s is followed and ended while it is compared',
  async (engine, activity, k, topology) => {
    const words = {
      strategy: 'common-neighbor',
      k,
      mode: 'agnostic',
      engine,
      machine,
      bytes: 64,
      compare: true,
    } as const
    const end = new AbortController()
    const steps: string[] = []
    const planning = requestedPlan(
      topology,
      understand(words, (name) => name),
      machine,
      {
        signal: end.signal,
        onStep: (what) => void steps.push(what),
        onProgress: (progress) => {
          if (progress.activity === activity) end.abort()
        },
      },
    )
    await expect(planning).rejects.toMatchObject({ code: 'ERR_ABORTED' })
    expect(steps).toEqual(['comparing strategies'])
  },
)
