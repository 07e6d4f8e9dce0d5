import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { compiledUrl } from '../../support/compiled.js'

/** Runs worlds on threads in a program of their own, to see what their ranks print; it finds the built package by its name. */
function node(code: string): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const program = `import { run, threads } from 'rankweave'
    const program = new URL(${JSON.stringify(compiledUrl('threads-program.ts').href)})
    ${code}`
  const cwd = fileURLToPath(new URL('../../..', import.meta.url))
  return promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], { cwd })
}

it('a worker is lost: the others continue, and run reports which process is lost', async () => {
  const deaths = {
    uncaught: 'nobody catches this',
    stray: 'nobody awaits this',
    exit: 'code 7',
    memory: 'memory',
  }
  const { stdout } = await node(`
    const fabric = threads({ ranksPerProcess: [2, 1], resourceLimits: { maxOldGenerationSizeMb: 64 } })
    for (const kind of ${JSON.stringify(Object.keys(deaths))}) {
      await run(program, { ranks: 3, fabric, args: { kind, rank: 2 } }).catch((error) => {
        console.log(error.code, error.details.process, error.message, 'is the end')
      })
    }`)
  const worlds = stdout.split('is the end\n')
  for (const [at, said] of Object.values(deaths).entries()) {
    expect(worlds[at]).toContain('rank 0: ERR_PEER_LOST ERR_PEER_LOST, then 1\n')
    expect(worlds[at]).toContain('rank 1: ERR_PEER_LOST ERR_PEER_LOST, then 0\n')
    expect(worlds[at]).toContain('ERR_PEER_LOST 1 process 1 with rank 2 is lost')
    expect(worlds[at]).toContain(said)
  }
})

it('what workers print is printed by their program', async () => {
  const { stdout, stderr } = await node(`
    await run(program, { ranks: 3, fabric: 'threads', args: { kind: 'print' } })`)
  for (const rank of [0, 1, 2]) {
    expect(stdout).toContain(`rank ${rank} says so\n`)
    expect(stderr).toContain(`rank ${rank} warns\n`)
  }
})
