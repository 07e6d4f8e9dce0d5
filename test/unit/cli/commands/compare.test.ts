import { describe, expect, it } from 'vitest'
import { cli, json, onlyObject, typed } from '../run-cli.js'

const machine = typed`--machine cluster:nodes=2,cores=8,profile=simgrid-fast`
const auto = typed`--strategy auto:budget=2 ${machine}`

describe('plan --strategy auto', () => {
  it('plans what it chose, and says among what', async () => {
    const object = await json`plan moore:4x4:r=1 ${auto} --bytes 4`
    expect(object).toMatchObject({
      parameters: expect.any(Object),
      notSimulated: expect.any(Array),
      origins: { timeUs: 'simulated', planMs: 'measured' },
      remark: null,
      ordinaryAllgather: { algorithm: 'allgather-recursive-doubling', timeUs: expect.any(Number) },
    })
    const { chosen, alternatives, strategy } = object as {
      chosen: string
      strategy: string
      alternatives: { strategy: string; timeUs: number; breakEvenStarts: number | null }[]
    }
    expect(object).toMatchObject({ verified: true, bytesPerBlock: 4 })
    expect(chosen).toBe(alternatives[0].strategy)
    expect(chosen).toMatch(new RegExp(`^${strategy}`))
    expect(alternatives.map((alternative) => alternative.strategy)).toContain('direct')
    expect(alternatives.find((alternative) => alternative.strategy === 'direct')!.breakEvenStarts).toBeNull()
  })

  it('prints a table that marks what is planned', async () => {
    const { exitCode, stdout } = await cli`plan moore:4x4:r=1 ${auto} --bytes 4 --compare`
    expect(exitCode).toBe(0)
    expect(stdout).not.toContain('fastest simulated')
    // "about" where planning takes long on a busy machine.
    expect(stdout).toMatch(/pays after\n {2}\* \S+ +[\d.]+ us .* (?:at most|about) [\d,]+ starts?\n/)
    expect(stdout).toMatch(
      /^times are simulated with profile simgrid-fast \(costs given.*\); planning is measured$/m,
    )
    expect(stdout).toMatch(/^moore:4x4:r=1: \S+:\S+=\S+\n/)
    expect(stdout).toMatch(/ - allgather-recursive-doubling, all to all +[\d.]+ us/)
    expect(stdout).toMatch(/ {4}allgather:radices=\S+ +[\d.]+ us/)
    // What direct sends take, and an ordinary allgather, divided by the time of each.
    expect(stdout).toMatch(/ simulated +direct \/ this +allgather \/ this +messages /)
    expect(stdout).toMatch(/ - allgather-recursive-doubling, all to all +[\d.]+ us +[\d.]+ +1 /)
    expect(stdout).toMatch(/ {4}direct +[\d.]+ us +1 +[\d.]+ /)
    for (const k of [2, 4, 8]) expect(stdout).toMatch(` common-neighbor:k=${k},mode=aware `)
    expect(stdout).toMatch(/not simulated, as the budget is used up: \S+:\S+ \(at least [\d.]+ us\)/)
    expect(stdout).toMatch(/ {4}direct +[\d.]+ us .* never\n/)
  })
})

it('plan --compare has the named strategy among the others', async () => {
  const { stdout } = await cli`plan moore:4x4:r=1 --k 2 ${machine} --bytes 4 --compare`
  expect(stdout).toMatch(/\* common-neighbor:k=2,mode=aware/)
  expect(stdout).toMatch(/simulated \(\* planned, - an ordinary allgather\)/)
  expect(stdout).toMatch(
    /^ {2}fastest simulated: --strategy \S+; the planned one takes [\d.]+ times as long$/m,
  )
})

it('plan --help says what auto is', async () => {
  const { stdout } = await cli`plan --help`
  expect(stdout).toMatch(/--strategy <text> +auto, direct/)
  expect(stdout).toMatch(/^ {2}auto:bytes=4096,budget=10 {3}the fastest/m)
})

it.each([
  [typed`--strategy auto:bytes=64 ${machine} --bytes 4`, 'ERR_USAGE'],
  [typed`--strategy direct --bytes 4`, 'ERR_USAGE'],
  [typed`--strategy direct --k 4`, 'ERR_USAGE'],
  [typed`--strategy common-neighbor:k=2 --mode aware ${machine}`, 'ERR_USAGE'],
  [typed`${auto} --bytes 4 --theta 2`, 'ERR_USAGE'],
  [typed`--strategy lanes:lanes=99 ${machine}`, 'ERR_STRATEGY'],
  [typed`--strategy routed:radices=2147483647`, 'ERR_STRATEGY'],
  [typed`--strategy auto --bytes 4`, 'ERR_USAGE'],
  [auto, 'ERR_USAGE'],
  [typed`--strategy auto:budget=0 ${machine} --bytes 4`, 'ERR_STRATEGY'],
  [typed`--compare --bytes 4`, 'ERR_USAGE'],
  [typed`--compare --machine cluster:nodes=2,cores=8 --bytes 4`, 'ERR_MACHINE'],
  [typed`--strategy auto --machine cluster:nodes=1,cores=8,profile=simgrid-fast --bytes 4`, 'ERR_MACHINE'],
])('refuses %j', async (args, code) => {
  const object = await json`plan moore:4x4:r=1 ${args}`
  expect(object).toMatchObject({ error: { code } })
})

it.each([typed`simulate moore:4x4:r=1 ${machine} --bytes 4`, typed`spmm -n 4`])(
  '%s refuses options of friend groups beside another strategy',
  async (...args) => {
    const answer = await cli`${args} --strategy direct --k 4 --json`
    expect(onlyObject(answer)).toMatchObject({ error: { code: 'ERR_USAGE' } })
  },
)
