import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseGoal, stuckOperations } from '../../../support/goal.js'
import { ownFolder } from '../../../support/temporary-folder.js'
import { cli, onlyObject, refused, typed } from '../run-cli.js'

const folder = ownFolder('cli')

describe('export', () => {
  it('writes a C program of a plan', async () => {
    const file = join(folder, 'plan.c')
    const options = typed`--strategy direct --operation neighbor-alltoall --format c -o ${file}`
    const answer = await cli`export moore:3x3:r=1 ${options} --json`
    expect(answer.exitCode).toBe(0)
    expect(onlyObject(answer)).toEqual({
      ...{ source: 'moore:3x3:r=1', format: 'c', collective: 'neighbor-alltoall', strategy: 'direct' },
      ...{ ranks: 9, messages: 72, file },
    })
    expect(readFileSync(file, 'utf8')).toMatch(/^\/\*\n \* neighbor-alltoall of 9 ranks by direct, exported/)
  })

  it('writes the same GOAL text of a plan and of its schedule file', async () => {
    const file = join(folder, 'plan.jsonl')
    await cli`plan moore:4x4:r=1 -o ${file}`
    const goal = typed`--format goal --bytes 8 -o -`
    const fromFile = await cli`export ${file} ${goal}`
    expect(fromFile.exitCode).toBe(0)
    expect(stuckOperations(parseGoal(fromFile.stdout))).toEqual([])
    expect((await cli`export moore:4x4:r=1 ${goal}`).stdout).toBe(fromFile.stdout)
  })

  it('writes a C program of the strategy that is fastest for blocks of --bytes', async () => {
    const chosen = typed`moore:3x3:r=1 --strategy auto:budget=1 --format c -o -`
    expect(await cli`export ${chosen}`).toMatchObject(refused('expected --machine with a profile'))
    const machine = typed`--machine cluster:nodes=3,cores=3,profile=simgrid-fast`
    expect(await cli`export ${chosen} ${machine}`).toMatchObject(refused('expected --bytes'))
    const { stdout } = await cli`export ${chosen} ${machine} --bytes 8`
    expect(stdout).toMatch(/^\/\*\n \* neighbor-allgather of 9 ranks by /)
    const named = await cli`export moore:3x3:r=1 --strategy direct --format c -o - --bytes 8`
    expect(named).toMatchObject(refused('--bytes is for --format goal and --strategy auto'))
    const unnamed = await cli`export moore:3x3:r=1 --strategy direct -o -`
    expect(unnamed).toMatchObject(refused('expected --format c or goal'))
  })

  it('takes parameters of an algorithm, and cuts segments by the bytes of GOAL text', async () => {
    const goal = typed`--ranks 7 --format goal --bytes 4096 -o -`
    const counted = await cli`export bcast-knomial:segments=4,radix=3 ${goal}`
    expect(counted.exitCode).toBe(0)
    expect(stuckOperations(parseGoal(counted.stdout))).toEqual([])
    expect((await cli`export bcast-knomial:radix=3,segment=1KiB ${goal}`).stdout).toBe(counted.stdout)
    const c = typed`--ranks 7 --format c -o -`
    const program = await cli`export bcast-knomial:segments=4,radix=3 ${c}`
    expect(program.stdout.split('\n')[1]).toBe(
      ' * bcast of 7 ranks by bcast-knomial:radix=3 (root=0, segments=4, radix=3), exported by Rankweave.',
    )
    expect(await cli`export bcast-knomial:segment=1KiB ${c}`).toMatchObject(
      refused('expected segments=NUMBER'),
    )
  })

  it('limits the sends of a rank in progress by --ports or by the machine, of an algorithm, a topology and a file', async () => {
    const goal = typed`--format goal --bytes 8 -o -`
    const file = join(folder, 'unlimited.jsonl')
    await cli`schedule alltoall-linear --ranks 6 -o ${file}`
    const machine = typed`--machine cluster:nodes=9,cores=1,ports=2`
    for (const source of [typed`alltoall-linear --ranks 6`, typed`moore:3x3:r=1 --strategy direct`, [file]]) {
      const limited = await cli`export ${source} --ports 2 ${goal}`
      const unlimited = await cli`export ${source} ${goal}`
      const byMachine = await cli`export ${source} ${machine} ${goal}`
      expect(byMachine.exitCode).toBe(0)
      expect(byMachine.stderr).toMatch(/^ {2}ports +2 per rank$/m)
      expect(byMachine.stdout).toBe(limited.stdout)
      expect(stuckOperations(parseGoal(limited.stdout))).toEqual([])
      expect(limited.stdout).not.toBe(unlimited.stdout)
      expect((await cli`export ${source} ${machine} --ports 8 ${goal}`).stdout).toBe(unlimited.stdout)
    }
  })

  it('writes nothing of a schedule with violations', async () => {
    const file = join(folder, 'broken.jsonl')
    await cli`plan moore:3x3:r=1 --strategy direct -o ${file}`
    const broken = readFileSync(file, 'utf8').replace('"tag":2', '"tag":3')
    writeFileSync(file, broken)
    for (const ports of [[], typed`--ports 1`]) {
      const answer = await cli`export ${file} --format c -o ${join(folder, 'broken.c')} ${ports}`
      expect(answer).toMatchObject({ exitCode: 1, stdout: '' })
      expect(answer.stderr).toContain('unmatched')
    }
    expect(readdirSync(folder)).not.toContain('broken.c')
  })
})
