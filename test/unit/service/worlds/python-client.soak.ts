import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { python, pythonMissing } from '../../../support/python.js'
import { startService } from '../../../support/service.js'

const run = promisify(execFile)
const matrix = 'test/matrices/dwt_193.mtx'

/** The error of a command that fails, with its exit code and its output. */
const ended = (command: string, args: readonly string[]) =>
  run(command, [...args]).then(
    () => ({ code: 0, stderr: '' }),
    (error: { code: number; stderr: string }) => error,
  )

it('the requests of docs/service.md as typed, and plan.py, yield the plan of the command, which execute.py executes', async () => {
  const { service, end } = await startService()
  const folder = mkdtempSync(join(tmpdir(), 'rankweave-requests-'))
  try {
    const plan = resolve('examples/python-client/plan.py')
    const [, requests] = [...readFileSync('docs/service.md', 'utf8').matchAll(/^```sh\n(.*?)^```$/gms)]
    const script = requests![1]!.replace(/^S=.*$/m, `S=${service.url}`)
    const { stdout } = await run('bash', ['-e', '-c', script], { cwd: folder })
    expect(stdout).toMatch(/"state":"done"/)
    expect(stdout).toMatch(/'direct': 768, 'planned': 320\b/)
    expect(stdout).toMatch(/'directUs': 8\.4\d*, 'plannedUs': 3\.7[89]\d*, 'speedup': 2\.2/)
    const graph = join(folder, 'graph.txt')
    const byPython = await run(python, ['-B', plan, 'edges', graph, service.url])
    expect(byPython.stderr).toMatch(/^768 messages direct, 320 planned$/m)
    const assumed =
      /^simulated for blocks of 64 bytes on cluster:nodes=4,cores=16,profile=simgrid-fast \(assumed: /m
    expect(byPython.stderr).toMatch(assumed)
    const own = ['--bytes', '1024', '--machine', 'cluster:nodes=2,cores=32,profile=simgrid-slow']
    const ofOwn = await run(python, ['-B', plan, 'edges', graph, service.url, ...own])
    expect(ofOwn.stderr).toMatch(/^simulated for blocks of 1024 bytes on cluster:nodes=2,[^( ]*$/m)
    const typed = readFileSync(join(folder, 'plan.jsonl'), 'utf8')
    expect(typed).toMatch(/^{"format":"rankweave-schedule".*\n{"rank":0,/)
    expect(byPython.stdout).toBe(typed)
    expect(byPython.stderr).toMatch(
      /^64 ranks, 768 edges\nremark: stored before.*\n(queued\n)?(running\n)?done\n/,
    )
    expect(byPython.stderr).toMatch(/ 2\.2\d times as fast, breaks even after [\d,]+ exchanges$/m)
    const ofRank = await run(python, ['-B', plan, 'edges', graph, service.url, '--rank', '7'])
    expect(JSON.parse(ofRank.stdout)).toMatchObject({
      rank: 7,
      out: [8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19],
    })
    const fromOne = join(folder, 'from-one.txt')
    writeFileSync(fromOne, '1 2\n2 3\n3 1\n')
    const odd = await run(python, ['-B', plan, 'edges', fromOne, service.url])
    expect(odd.stderr).toMatch(/^remark: rank 0 has no edges/m)
    expect(await ended(python, ['-B', plan, 'edges', graph, 'http://127.0.0.1:1'])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^no service at http:\/\/127\.0\.0\.1:1: .*rankweave serve\n$/),
    })
    const execute = resolve('examples/python-client/execute.py')
    const executed = await run(python, ['-B', execute, join(folder, 'plan.jsonl')])
    expect(executed.stdout).toBe('64 ranks, 320 messages: every slot holds its block\n')
    expect(await ended(python, ['-B', execute, graph])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^[^\n]*graph\.txt: expected a plan, [^\n]*\n$/),
    })
    expect(await ended(python, ['-B', plan, 'edges', matrix, service.url])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^ERR_[A-Z_]+: .*\n$/),
    })
  } finally {
    rmSync(folder, { recursive: true })
    await end()
  }
})

const missing = pythonMissing()
if (missing !== undefined) console.log(`skipped: ${missing}`)

it.skipIf(missing !== undefined)(
  'eight members in Python split twice, free, and survive the loss of one',
  async () => {
    const token = 'a-token-of-at-least-thirty-two-characters'
    const { service, end } = await startService({ tokens: [token] })
    const folder = mkdtempSync(join(tmpdir(), 'rankweave-python-'))
    try {
      writeFileSync(join(folder, 'tokens'), `# tokens\n${token}\n`)
      const program = fileURLToPath(
        new URL('../../../../examples/python-client/eight_members.py', import.meta.url),
      )
      const { stdout } = await promisify(execFile)(python, [
        '-B',
        program,
        service.url,
        join(folder, 'tokens'),
      ])
      expect(stdout).toBe('8 members, 2 splits, 1 lost, 7 continue\n')
      // A wrong URL is one line of error.
      const wrong = await ended(python, ['-B', program, new URL(service.url).host])
      expect(wrong).toMatchObject({ code: 1, stderr: expect.stringMatching(/ expected the URL [^\n]*\n$/) })
    } finally {
      rmSync(folder, { recursive: true })
      await end()
    }
  },
)
