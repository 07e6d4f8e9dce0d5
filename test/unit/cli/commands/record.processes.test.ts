import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { interruptedBy, scriptedLauncher } from '../../../support/scripted-launcher.js'
import { cli, onlyObject } from '../run-cli.js'
import { spawnCli } from '../spawn-cli.js'

describe('rankweave record', () => {
  let folder: string

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'rankweave-record-'))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  const launcherThat = (rest: string) =>
    scriptedLauncher(
      folder,
      `RANKWEAVE_SHIM=record:*) printf '# nodes of the ranks: 2x1\\nranks 2\\n0 1\\n' > "\${word#*:}" ;;`,
      rest,
    )

  it('demands a file as output', async () => {
    const launcher = launcherThat('exit 0')
    const answer = await cli('record', '-o', '-', '--', launcher, './program')
    expect(answer).toMatchObject({ exitCode: 2, stdout: '' })
    expect(answer.stderr).toContain('ERR_USAGE: --output: expected a file, got -')
  })

  it.each(['a b', 'a:b'])('refuses to preload a library in the folder "%s"', async (name) => {
    const launcher = launcherThat('touch "$0.started"')
    const inside = join(folder, name)
    mkdirSync(inside)
    const output = join(inside, 'graph.txt')
    const refused = { exitCode: 2, stderr: expect.stringMatching(/ERR_SHIM: .*LD_PRELOAD/) }
    expect(await cli('record', '-o', output, '--', launcher, './program')).toMatchObject(refused)
    const library = join(inside, 'library.so')
    writeFileSync(library, '')
    const words = ['-o', join(folder, 'graph.txt'), '--library', library]
    expect(await cli('record', ...words, '--', launcher, './program')).toMatchObject(refused)
    expect(readdirSync(folder).sort()).toEqual([name, 'mpirun.script'])
    expect(readdirSync(inside)).toEqual(['library.so'])
  })

  it('preloads a library that can be read, wherever the output is', async () => {
    const launcher = launcherThat('touch "$0.started"')
    mkdirSync(join(folder, 'a b'))
    const output = join(folder, 'a b', 'graph.txt')
    const library = join(folder, 'library.so')
    const words = ['record', '--json', '-o', output, '--library', library, '--', launcher, './program']
    const refused = { exitCode: 2, stderr: expect.stringContaining('ERR_FILE: cannot read') }
    expect(await cli(...words)).toMatchObject(refused)
    expect(readdirSync(folder).sort()).toEqual(['a b', 'mpirun.script'])
    writeFileSync(library, '')
    expect(onlyObject(await cli(...words))).toMatchObject({ graphs: [{ file: output, ranks: 2, edges: 1 }] })
    expect(readFileSync(output, 'utf8')).toBe('# nodes of the ranks: 2x1\nranks 2\n0 1\n')
  })

  it('reports how to start a program of another MPI, and suggests a study of what it recorded', async () => {
    const library = join(folder, 'library.so')
    writeFileSync(library, '')
    const output = join(folder, 'graph.txt')
    const words = ['record', '-o', output, '--library', library, '--']
    const refused = await cli(...words, launcherThat('exit 78'), './program')
    expect(refused.exitCode).toBe(3)
    expect(refused.stderr).toContain('start the program with the launcher of the MPI that it uses')
    const recorded = await cli(...words, launcherThat('exit 0'), './program')
    const [, line] = / +next +rankweave (.*)\n/.exec(recorded.stdout)!
    expect(line).toBe(`study edges:${output} --machine cluster:nodes=2,cores=1,profile=simgrid-fast -o study`)
    const study = join(folder, 'study')
    expect(await cli(...line.split(' ').slice(0, -1), study)).toMatchObject({ exitCode: 0 })
  })

  const processOf = (rank: number, sends: readonly (readonly number[])[]) => ({
    ...{ rank, node: 0, seconds: 1, inMpi: 0, calls: [], sends, blocks: [], sizes: [], collectives: [] },
  })
  /** A launcher whose program is profiled, with a profiler beside the library. */
  const profilingLauncher = (sends: readonly (readonly number[])[]) => {
    for (const name of ['library.so', 'librankweave_profile.so']) writeFileSync(join(folder, name), '')
    const header = { format: 'rankweave-profile-1', mpi: 'Open MPI 4', ranks: 2, nodes: ['a'] }
    const lines = [header, processOf(0, sends), processOf(1, [])].map((line) => JSON.stringify(line))
    writeFileSync(join(folder, 'profiled'), `${lines.join('\n')}\n`)
    return scriptedLauncher(
      folder,
      `RANKWEAVE_PROFILE=profile:*) cp ${join(folder, 'profiled')} "\${word#*:}" ;;`,
      'exit 0',
    )
  }
  const words = (output: string) => ['record', '-o', output, '--library', join(folder, 'library.so')]

  it('writes who sends to whom of a program without neighborhood collectives, with bytes as weights', async () => {
    const launcher = profilingLauncher([[1, 3, 24]])
    const output = join(folder, 'graph.txt')
    const { stdout, exitCode } = await cli(...words(output), '--', launcher, './program')
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/graph\.txt +2 ranks, 1 edge, 3 messages, 24 bytes\n/)
    const next = `rankweave study edges:${output} --operation neighbor-alltoall --bytes 8 --machine cluster:nodes=2,cores=1,profile=simgrid-fast -o study`
    expect(stdout).toMatch(
      / study +the one below assumes 2 nodes, because shared memory on one is not simulated\n/,
    )
    expect(stdout).toContain(` ${next}\n`)
    expect(readFileSync(output, 'utf8')).toBe(
      '# who sends to whom: the weight of an edge is its bytes\n# 3 messages, 8 to 8 bytes each on average of an edge\n# nodes of the ranks: 1x2\nranks 2\n0 1 24 # messages: 3\n',
    )
    const { graphs, profile } = onlyObject(await cli(...words(output), '--json', '--', launcher, './program'))
    expect(graphs).toEqual([{ file: output, ranks: 2, edges: 1, nodes: '1x2', messages: 3, bytes: 24 }])
    expect(profile).toMatchObject({ mpi: 'Open MPI 4', traffic: { pairs: 1 } })
  })

  it('ends well with what a program lacks and the next command', async () => {
    const output = join(folder, 'graph.txt')
    const launcher = profilingLauncher([])
    const silent = await cli(...words(output), '--', launcher, './program')
    expect(silent).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('no rank sends to another one'),
    })
    expect(silent.stdout).toContain(`rankweave advise -- ${launcher} ./program`)
    rmSync(join(folder, 'librankweave_profile.so'))
    const unprofiled = await cli(...words(output), '--', launcher, './program')
    expect(unprofiled.stdout).toContain(
      'librankweave_profile.so beside the library would record its messages',
    )
    expect(unprofiled.stdout).toContain(` rankweave record -o ${output} -- ${launcher} ./program`)
    writeFileSync(join(folder, 'librankweave_profile.so'), '')
    const another = scriptedLauncher(folder, '', 'exit 0')
    const { stdout } = await cli(...words(output), '--', another, './program')
    expect(stdout).toContain('no process called MPI_Init and MPI_Finalize of the MPI of the libraries')
  })

  it.each([
    ['INT', 130, 1],
    ['TERM', 143, 0],
    ['HUP', 129, 1],
  ])(
    'passes SIG%s to the launcher, once, and ends with exit code %i',
    async (signal, exitCode, ofLauncher) => {
      const launcher = launcherThat(interruptedBy(signal, ofLauncher))
      const library = join(folder, 'library.so')
      writeFileSync(library, '')
      const words = ['-o', join(folder, 'graph.txt'), '--library', library]
      const answer = await spawnCli(['record', ...words, '--', launcher, './program'])
      expect(answer.exitCode).toBe(exitCode)
      expect(answer.stderr).toContain(
        `ERR_ABORTED: ${launcher} was interrupted by SIG${signal}, so nothing is recorded`,
      )
      expect(readFileSync(`${launcher}.signals`, 'utf8')).toBe(`${signal}\n`)
      expect(readdirSync(folder).sort()).toEqual(['library.so', 'mpirun.script', 'mpirun.script.signals'])
    },
  )
})
