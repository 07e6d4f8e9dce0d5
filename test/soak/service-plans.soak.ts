import { expect, it } from 'vitest'
import { seededRandom } from '../../src/base/random.js'
import { asking, startService } from '../support/service.js'
import { demanded } from '../support/soak.js'

const requests = demanded(1000, 200)
const distinct = requests / 2
const clients = 32

/** Every label twice: of one half of the labels at the same moment, of the others in a random order. */
function labelsTwice(): readonly number[] {
  const random = seededRandom(3)
  const together = Array.from({ length: distinct }, (_, n) => n >> 1)
  const apart = Array.from({ length: distinct }, (_, n) => ({
    label: distinct - 1 - (n >> 1),
    place: random(),
  }))
  return [...together, ...apart.sort((a, b) => a.place - b.place).map(({ label }) => label)]
}

it('of plan requests of which half are equal each distinct one is planned once, also after a restart', async () => {
  const first = await startService()
  try {
    const ask = asking(first.service)
    const topology = (await ask.upload('moore:6x6:r=1', 'format=spec')).body.id
    const plans = new Map<number, Set<string>>()
    const labels = labelsTwice()
    let next = 0
    const client = async () => {
      while (next < requests) {
        const label = labels[next++]
        const { status, body } = await ask.plan({ topology, labels: label })
        // 202 for a plan that is being made, 200 for one that there is.
        expect([200, 202]).toContain(status)
        plans.set(label, (plans.get(label) ?? new Set()).add(`${body.id} ${body.plan}`))
      }
    }
    await Promise.all(Array.from({ length: clients }, client))
    const ids = [...plans.values()].map((of) => [...of])
    expect(ids.every((of) => of.length === 1)).toBe(true)
    expect(new Set(ids.flat()).size).toBe(distinct)
    const jobs = ids.flat().map((both) => both.split(' ')[0])
    for (const job of jobs) expect((await ask.events(job)).at(-1)).toMatchObject({ state: 'done' })
    const made = async (of: ReturnType<typeof asking>) =>
      /^rankweave_jobs_done (\d+)$/m.exec(await (await of.get('/metrics')).text())?.[1]
    expect(await made(ask)).toBe(String(distinct))
    expect((await ask.json<{ plans: unknown[] }>('/v1/plans')).body.plans.length).toBe(distinct)
    await first.service.close()

    const second = await startService({ data: first.data })
    try {
      const again = asking(second.service)
      for (let label = 0; label < distinct; label++)
        expect(await again.plan({ topology, labels: label })).toMatchObject({
          status: 200,
          body: { state: 'done' },
        })
      expect(await made(again)).toBe('0')
    } finally {
      await second.end()
    }
  } finally {
    await first.end()
  }
})
