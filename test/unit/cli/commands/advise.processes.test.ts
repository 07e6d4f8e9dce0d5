import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { advised } from '../../../../src/advise/advice.js'
import { Overdue } from '../../../../src/cli/output/exit-codes.js'
import { runPreloaded } from '../../../../src/cli/program/preloaded-run.js'
import { TriedProgram } from '../../../../src/cli/program/tried-program.js'
import { escapeXml } from '../../../../src/text/printable.js'
import { interruptedBy, scriptedLauncher } from '../../../support/scripted-launcher.js'
import { cli } from '../run-cli.js'
import { command, spawnCli } from '../spawn-cli.js'

const format = '"format":"rankweave-profile-1"'

/** The lines of a profile of a ring of four ranks that are dealt over two nodes. */
function ringProfile(calls: string): string {
  const lines = [0, 1, 2, 3].map((rank) => {
    const sends = JSON.stringify([
      [(rank + 1) % 4, 10, 10_000],
      [(rank + 3) % 4, 10, 10_000],
    ])
    return `{"rank":${rank},"node":${rank % 2},"seconds":1,"inMpi":0.5,"calls":[${calls}],"sends":${sends},"blocks":[],"sizes":[],"collectives":[]}`
  })
  return [`{${format},"mpi":"Open MPI 4.1.4","ranks":4,"nodes":["a","b"]}`, ...lines].join('\\n')
}

const wait = '{"name":"MPI_Wait","calls":20,"seconds":0.5,"bytes":0}'

describe('rankweave advise', () => {
  let folder: string

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'rankweave-advise-'))
    const mpicc = join(folder, 'mpicc')
    writeFileSync(mpicc, '#!/bin/sh\nexit 0\n')
    chmodSync(mpicc, 0o755)
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  /** A launcher whose program takes `seconds`, and `placed` seconds where a file places its ranks. */
  const launcherThat = ({ calls = wait, placed = '0.5', rest = 'exit 0' } = {}) =>
    scriptedLauncher(
      folder,
      [
        '--rankfile) placed=1 ;;',
        `RANKWEAVE_PROFILE=profile:*) printf '${ringProfile(calls)}\\n' > "\${word#*:}" ;;`,
        `RANKWEAVE_PROFILE=time:*) file=\${word#*:} ;;`,
      ].join('\n'),
      `[ -z "$file" ] || printf '{${format},"seconds":%s}\\n' $([ -z "$placed" ] && echo 1 || echo ${placed}) > "$file"\n${rest}`,
    )

  const advise = (launcher: string, ...words: readonly string[]) =>
    spawnCli(['advise', '--mpicc', join(folder, 'mpicc'), ...words, '--', launcher, '-n', '4', './program'], {
      cwd: folder,
    })

  it('finds a placement that pays, writes it, and says what to type', async () => {
    const launcher = launcherThat()
    const { exitCode, stdout } = await advise(launcher, '-o', 'advice.html')
    expect(exitCode).toBe(0)
    expect(stdout).toContain('Placement: 2.00 times as fast [2.00, 2.00] in 11 pairs.')
    expect(stdout).toContain(`Use: ${launcher} --rankfile rankweave-ranks.txt -n 4 ./program`)
    const page = readFileSync(join(folder, 'advice.html'), 'utf8').replaceAll('<wbr/>', '')
    for (const words of ['Placement: 2.00 times as fast', 'MPI_Wait', 'between nodes'])
      expect(page).toContain(words)
    const rows = [...stdout.matchAll(/^ {2}(\S.*?) {2,}(.*)$/gm)]
    expect(rows.map(([, label]) => label)).toContain('next')
    for (const [, label, text] of rows) {
      expect(page).toContain(`>${label}<`)
      expect(page).toContain(escapeXml(text))
    }
    const places = readFileSync(join(folder, 'rankweave-ranks.txt'), 'utf8')
    const nodeOf = places
      .trim()
      .split('\n')
      .map((line) => /=(\w)/.exec(line)![1])
    const crossing = nodeOf.filter((node, rank) => node !== nodeOf[(rank + 1) % 4])
    expect(crossing).toHaveLength(2)
  })

  it('says that nothing helps, and writes nothing', async () => {
    const { stdout } = await advise(launcherThat({ placed: '1' }), '--json')
    expect(JSON.parse(stdout)).toMatchObject({
      advised: [],
      use: [],
      cores: null,
      unchanged: { runs: 11, leastSeconds: 1, mostSeconds: 1 },
      rewriting: expect.stringMatching(/^messages take \d.* record -o graph\.txt -- .*, and the study/),
      next: 'nothing: start the program as today',
      verdict: 'Nothing to gain here: placement, 1.00 times as fast [1.00, 1.00] in 11 pairs.',
    })
    const none = await advise(launcherThat({ calls: '' }))
    expect(none.stdout).toContain(
      "at most 0.0% of the heaviest rank's time is in calls that Rankweave can change",
    )
    expect(none.stdout).toContain('not known: the unchanged command ran only with the profile')
    expect(readdirSync(folder).sort()).toEqual(['mpicc', 'mpirun.script'])
  })

  it('names changes for which no time is left, with their upper bounds', async () => {
    const program = new TriedProgram({
      ...{ command: [launcherThat(), './program'], folder, mpicc: join(folder, 'mpicc'), compare: null },
      ...{ output: 'stderr', step: () => {}, onPair: () => {} },
    })
    await program.measure()
    const { tried, untried, verdict } = await advised(program.changes, program.runs(41, performance.now()))
    expect(program.count).toBe(1)
    expect(tried).toEqual([])
    expect(untried).toContainEqual({
      ...{ name: 'placement', share: 0.5, reason: 'the time was over', needsTime: true },
    })
    expect(verdict).toContain(
      "placement, not tried: the time was over (it can save at most 50% of the heaviest rank's time).",
    )
  })

  it('removes the folder of a run that was killed, and leaves those of other machines', async () => {
    const { exitCode } = await advise(
      launcherThat({ rest: 'mv .rankweave-record-* left; kill -9 $PPID' }),
    ).catch(() => ({ exitCode: null }))
    expect(exitCode).toBeNull()
    renameSync(join(folder, 'left'), join(folder, '.rankweave-record-left'))
    mkdirSync(join(folder, '.rankweave-record-other'))
    writeFileSync(join(folder, '.rankweave-record-other', 'owner'), '1 another machine 0')
    await advise(launcherThat({ calls: '' }))
    expect(readdirSync(folder).filter((name) => name.startsWith('.'))).toEqual(['.rankweave-record-other'])
  })

  it('says of another launcher, and of a wrong time, what it needs', async () => {
    const script = await cli('advise', '--', 'python3', 'program.py')
    expect(script).toMatchObject({ exitCode: 2 })
    expect(script.stderr).toMatch(/got 'python3', another program; the program is started many times/)
    const noTime = await cli('advise', '--minutes', '0', '--', 'mpirun', './program')
    expect(noTime).toMatchObject({ exitCode: 2 })
    expect(noTime.stderr).toContain('--minutes: expected a number from 0.1 to 1440, got "0"')
  })

  it('gives each run the whole file that is its standard input', async () => {
    const input = join(folder, 'input')
    writeFileSync(input, 'a line\n')
    const launcher = launcherThat({ rest: 'cat >> "$0.read"' })
    const fromFile = ['sh', '-c', `exec "$@" < ${input}`, 'sh', ...command]
    const words = ['advise', '--pairs', '1', '--mpicc', join(folder, 'mpicc'), '--', launcher, './program']
    await spawnCli(words, { cwd: folder, command: fromFile })
    expect(readFileSync(`${launcher}.read`, 'utf8')).toBe('a line\n'.repeat(3))
  })

  it('ends where a run fails, or prints other results', async () => {
    const failing = '{ echo There are not enough slots >&2; exit 1; }'
    const second = '[ -e "$0.ran" ] && again=1; : > "$0.ran"'
    const lost = await advise(launcherThat({ rest: 'echo lost a node >&2; exit 1' }))
    expect(lost.stderr).toMatch(/^lost a node\n[\s\S]*; its last words: lost a node$/m)
    const refused = await advise(launcherThat({ rest: `[ -z "$placed" ] || ${failing}` }))
    expect(refused).toMatchObject({ exitCode: 0 })
    expect(refused.stdout).toMatch(
      /^Nothing was faster here: placement, a run failed: .* with exit code 1, /m,
    )
    const later = await advise(launcherThat({ rest: `${second}; [ -z "$again" ] || ${failing}` }))
    expect(later).toMatchObject({ exitCode: 3 })
    expect(later.stderr).toContain(
      'ended with exit code 1, although its first run ended well; to share cores, add --oversubscribe',
    )
    const noProgram = await advise(launcherThat({ rest: 'rm -f "$file" .rankweave-*/profile.jsonl' }))
    expect(noProgram).toMatchObject({ exitCode: 2 })
    expect(noProgram.stderr).toContain('expected a program that calls MPI_Init')
    const noCompare = await advise(launcherThat(), '--compare', join(folder, 'none'))
    expect(noCompare.stderr).toContain('ERR_SHIM: --compare')
    const other = await advise(launcherThat({ rest: 'echo result $placed' }), '--compare', 'cmp')
    expect(other).toMatchObject({ exitCode: 2 })
    expect(other.stderr).toContain('ERR_SHIM: --compare: expected equal results of two runs, got from cmp')
  })

  it('ends a run that exceeds its limit', async () => {
    const launcher = launcherThat({ rest: 'while :; do sleep 0.05; done' })
    const how = { libraries: [], variables: {}, output: 'ignore', limitMs: 1, ifItFails: () => '' } as const
    // It rejects when the launcher has closed, which this one never does by itself.
    await expect(runPreloaded([launcher, './program'], how)).rejects.toThrow(Overdue)
  })

  it('tells after Ctrl-C what is known so far', async () => {
    const rest = `if [ -n "$placed" ] && echo x >> "$0.placed" && [ $(wc -l < "$0.placed") = 4 ]; then\n${interruptedBy('INT', 1)}\nfi`
    const { exitCode, stdout, stderr } = await advise(launcherThat({ rest }))
    expect(exitCode).toBe(130)
    expect(stdout).toContain(
      'The runs do not say yet whether this pays: placement, 3 pairs, too few for an interval (median 2.00 times as fast).',
    )
    expect(stderr).toContain('ERR_ABORTED')
    expect(readdirSync(folder).filter((name) => name.startsWith('.'))).toEqual([])
  })
})
