import { expect, it } from 'vitest'
import { cli, json } from '../unit/cli/run-cli.js'

interface Chosen {
  readonly chosen: string
  readonly alternatives: readonly {
    readonly strategy: string
    readonly timeUs: number
    readonly messages: number
  }[]
  readonly notSimulated: readonly { readonly strategy: string; readonly atLeastUs: number }[]
}

interface Studied {
  readonly strategies: readonly {
    readonly strategy: string
    readonly messages: { readonly all: number }
    readonly simulated: readonly { readonly timeUs: number; readonly bytesByLevel: Record<string, number> }[]
  }[]
}

interface Simulated {
  readonly timeUs: number
  readonly bytes: Record<string, number>
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, number) => all + number, 0)

/** Of a program in GOAL: what is sent, and what is received. */
const inGoal = (text: string, operation: string): number[] =>
  Array.from(text.matchAll(new RegExp(`: ${operation} (\\d+)b `, 'g')), ([, bytes]) => Number(bytes))

it.each([
  ['moore:6x6:r=1', 'cluster:nodes=5,cores=8,profile=simgrid-fast', 4],
  ['er:40:d=0.3:seed=2', 'cluster:nodes=5,cores=8,profile=simgrid-slow', 4096],
  ['powerlaw:36:d=5:gamma=2.3:seed=1', 'cluster:nodes=3,cores=14,packages=2,profile=niagara', 256],
  ['rgg:40:r=0.35:seed=4', 'torus:dims=4x3,cores=4,profile=simgrid-fast', 65_536],
  ['er:40:d=0.3:seed=2', 'clos:radix=8,levels=2,nodes=10,cores=4,profile=graham', 1024],
])(
  '%s on %s, %i bytes: auto, study, simulate and GOAL have one time and one plan',
  async (topology, on, bytes) => {
    const machine = ['--machine', on]
    const words = [...machine, '--bytes', String(bytes)]
    const found = (await json`plan ${topology} --strategy auto:budget=1 ${words}`) as unknown as Chosen
    const { chosen, alternatives, notSimulated } = found
    const { timeUs, messages } = alternatives.find(({ strategy }) => strategy === chosen)!
    const simulated = async (strategy: string) =>
      (await json`simulate ${topology} --strategy ${strategy} ${words}`) as unknown as Simulated
    const study = (await json`study ${topology} ${words} --strategies ${chosen}`) as unknown as Studied
    const studied = study.strategies.find(({ strategy }) => strategy === chosen)!
    const { timeUs: again, bytes: sent } = await simulated(chosen)
    // A choice is simulated without a schedule: sums of copies round differently.
    expect(again / timeUs).toBeCloseTo(1, 9)
    expect(studied.simulated[0]).toMatchObject({ timeUs: again, bytesByLevel: sent })
    expect(studied.messages.all).toBe(messages)
    const form = ['--format', 'goal', '--bytes', String(bytes)]
    const exported = await cli`export ${topology} --strategy ${chosen} ${machine} ${form} -o -`
    const goal = inGoal(exported.stdout, 'send')
    expect(goal).toHaveLength(messages)
    expect(sum(goal)).toBe(sum(Object.values(sent)))
    expect(inGoal(exported.stdout, 'recv').sort()).toEqual(goal.sort())
    for (const { strategy, atLeastUs } of notSimulated.slice(0, 4))
      expect(atLeastUs, strategy).toBeLessThanOrEqual((await simulated(strategy)).timeUs)
  },
)
