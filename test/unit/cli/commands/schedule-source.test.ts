import { describe, expect, it } from 'vitest'
import { isTopology } from '../../../../src/cli/source/schedule-source.js'
import { variants } from '../../../support/algorithm-checks.js'
import { cli, refused, typed } from '../run-cli.js'

describe('a source of a schedule', () => {
  it.each(variants.map(({ id }) => id))('%s with settings is no topology', (id) => {
    for (const text of [id, `${id}:segments=2`, `${id},segments=2`, `${id}:`])
      expect([text, isTopology(text)]).toEqual([text, false])
  })

  it('that begins like an algorithm is one, not a file', async () => {
    expect(await cli`export bcast-chain:fanout=x --ranks 4 --format c -o -`).toMatchObject(
      refused("ERR_ARGUMENT: algorithm 'bcast-chain:fanout=x': expected fanout"),
    )
  })

  it.each(['bcast-chains:fanout=2', 'bcast-chain.jsonl', './bcast-chain:fanout=2'])(
    'that names no algorithm is a file: %s',
    async (source) => {
      expect(await cli`export ${source} --format c -o -`).toMatchObject(refused('ERR_FILE'))
    },
  )

  it.each(['export', 'simulate'])('is not empty: %s', async (command) => {
    expect(await cli`${command} ${''}`).toMatchObject(
      refused('ERR_USAGE: expected a schedule file, a topology or an algorithm'),
    )
    const unnamed = await cli`schedule ${''}`
    expect(unnamed.stderr).toContain('ERR_USAGE: expected an algorithm or a collective, or --list')
    const expected = "ERR_FILE: cannot read '': expected the name of a file"
    for (const argv of [
      ['verify', ''],
      typed`report ${''} -o -`,
      typed`models bcast --ranks 2 --profile ${''}`,
    ])
      expect((await cli(...argv)).stderr).toContain(expected)
  })

  it('that is not there is said to be expected as a file, a topology or an algorithm', async () => {
    const answer = await cli`export bcast-binominal --format c -o -`
    expect(answer).toMatchObject({ exitCode: 2 })
    expect(answer.stderr).toMatch(
      /ERR_FILE: cannot read 'bcast-binominal': ENOENT.*'rankweave schedule --list'/,
    )
  })

  it('that is an algorithm takes no options of topologies, and no root without need', async () => {
    const goal = typed`--ranks 4 --format goal --bytes 8 -o -`
    const withTopology = await cli`export bcast-chain:fanout=2 --k 4 ${goal}`
    expect(withTopology.stderr).toContain('ERR_USAGE: --k is for topologies, not for algorithms')
    const withRoot = await cli`export allreduce-ring:segments=2 --root 1 ${goal}`
    expect(withRoot.stderr).toContain('ERR_USAGE: --root is for')
  })
})
