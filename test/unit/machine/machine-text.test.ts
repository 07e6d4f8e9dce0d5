import { describe, expect, test } from 'vitest'
import { builtInProfiles } from '../../../src/machine/built-in-profiles.js'
import { formatMachine, parseMachine } from '../../../src/machine/machine-text.js'
import { thrown } from '../topology/thrown.js'

describe('parseMachine reads, formatMachine writes', () => {
  test.each([
    ['cluster:nodes=103,cores=40', 'cluster:nodes=103,cores=40'],
    ['cluster:cores=40+40+16', 'cluster:cores=2x40+16'],
    ['cluster:cores=102x40+16', 'cluster:cores=102x40+16'],
    ['cluster:cores=8', 'cluster:nodes=1,cores=8'],
    ['cluster:cores=2x8+3x8', 'cluster:nodes=5,cores=8'],
    ['cluster:cores=8+4+8', 'cluster:cores=8+4+8'],
    ['cluster:cores=8,nodes=2', 'cluster:nodes=2,cores=8'],
    ['cluster:nodes=16,cores=40,packages=2', 'cluster:nodes=16,cores=40,packages=2'],
    ['cluster:nodes=16,cores=20/20', 'cluster:nodes=16,cores=40,packages=2'],
    ['cluster:nodes=16,cores=20/12', 'cluster:nodes=16,cores=20/12'],
    ['cluster:cores=2x20/20+8/8', 'cluster:cores=2x40+16,packages=2'],
    ['cluster:cores=40+16,packages=2', 'cluster:cores=40+16,packages=2'],
    ['cluster:cores=2x20/20+16', 'cluster:cores=2x20/20+16'],
    ['cluster:nodes=16,cores=16,profile=simgrid-fast', 'cluster:nodes=16,cores=16,profile=simgrid-fast'],
    ['cluster:profile=simgrid-slow,cores=3+2', 'cluster:cores=3+2,profile=simgrid-slow'],
  ])('%s is written as %s', (text, canonical) => {
    const machine = parseMachine(text)
    expect(formatMachine(machine)).toBe(canonical)
    expect(parseMachine(canonical)).toEqual(machine)
  })

  test('the profile is the built-in one of that name, or one that is handed in', () => {
    const text = 'cluster:nodes=2,cores=2,profile=mine'
    const mine = { ...builtInProfiles[0], name: 'mine' }
    expect(parseMachine('cluster:nodes=1,cores=1,profile=simgrid-fast').profile).toBe(builtInProfiles[0])
    expect(parseMachine(text, { profiles: [mine] }).profile).toBe(mine)
    expect(formatMachine(parseMachine(text, { profiles: [mine] }))).toBe(text)
    expect(parseMachine('cluster:nodes=1,cores=1').profile).toBeNull()
  })

  test.each([
    ['', "character 1: expected 'cluster:', got the end"],
    ['grid:4x4', "character 1: expected 'cluster:', got 'grid:4x4'"],
    ['cluster:', "character 9: expected 'nodes=N,cores=C' or 'cores=C+C+...', got the end"],
    ['cluster:nodes=3', "character 9: expected 'nodes=N,cores=C'"],
    ['cluster:nodes=3,cores=x', "character 23: expected a number of cores such as '40'"],
    ['cluster:nodes=3,cores=4,', "character 25: expected a clause such as 'cores=40', got the end"],
    ['cluster:nodes=3,cores=4,nodes=3', "character 25: expected 'nodes' once"],
    ['cluster:nodes=3,cores=4,depth=3', "character 25: expected no clause 'depth'"],
    ['cluster:nodes=0,cores=4', 'character 15: expected an integer from 1 to 16777216'],
    ['cluster:nodes=1e3,cores=4', 'character 15: expected an integer from 1 to 16777216'],
    ['cluster:nodes=3,cores=4+4', 'character 23: expected a number of cores'],
    ['cluster:cores=', 'character 15: expected a number of cores'],
    ['cluster:cores=4+', 'character 17: expected a number of cores'],
    ['cluster:cores=4+4x+4', "character 19: expected a number of cores such as '40', of packages '20/20'"],
    ['cluster:cores=99999999x1', 'character 15: expected at most 16777216 nodes'],
    ['cluster:cores=99999999', 'character 15: expected at most 16777216 cores'],
    ['cluster:cores=4+0', 'node 1: expected at least 1 core, got 0'],
    ['cluster:cores=0x4', 'expected at least one node, got none'],
    ['cluster:cores=4+5,packages=2', 'character 28: expected a divisor of 5 cores'],
    ['cluster:cores=4/4,packages=2', "character 28: expected packages either here or as '/' in cores"],
    ['cluster:cores=4,packages=0', 'character 26: expected an integer from 1 to 1024'],
    [
      'cluster:nodes=2,cores=2,profile=fast',
      'character 33: expected one of the profiles simgrid-fast, simgrid-slow',
    ],
  ])("rejects '%s'", (text, message) => {
    const error = thrown(() => parseMachine(text))
    expect(error.code).toBe('ERR_MACHINE')
    expect(error.message).toContain(message)
  })
})
