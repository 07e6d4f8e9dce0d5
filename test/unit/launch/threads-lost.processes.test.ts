import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { compiledUrl } from '../../support/compiled.js'

const program = compiledUrl('threads-program.ts')

describe('a lost worker', () => {
  const deaths = [
    ['uncaught', 'nobody catches this'],
    ['stray', 'nobody awaits this'],
    ['exit', 'code 7'],
    ['memory', 'memory'],
  ] as const

  it.each(deaths)('%s: the others continue, and run reports which process is lost', async (kind, said) => {
    // In its own process, to see what the ranks that continue print.
    const code = `
      import { run, threads } from 'rankweave'
      const fabric = threads({ ranksPerProcess: [2, 1], resourceLimits: { maxOldGenerationSizeMb: 64 } })
      try {
        await run(new URL(${JSON.stringify(program.href)}), { ranks: 3, fabric, args: ${JSON.stringify({ kind, rank: 2 })} })
      } catch (error) {
        console.log(error.code, error.details.process, error.message)
      }`
    const { stdout } = await node(code)
    expect(stdout).toContain('rank 0: ERR_PEER_LOST ERR_PEER_LOST, then 1\n')
    expect(stdout).toContain('rank 1: ERR_PEER_LOST ERR_PEER_LOST, then 0\n')
    expect(stdout).toContain('ERR_PEER_LOST 1 process 1 with rank 2 is lost')
    expect(stdout).toContain(said)
  })

  it('output of workers reaches the parent', async () => {
    const code = `
      import { run } from 'rankweave'
      const args = { kind: 'print' }
      await run(new URL(${JSON.stringify(program.href)}), { ranks: 3, fabric: 'threads', args })`
    const { stdout, stderr } = await node(code)
    for (const rank of [0, 1, 2]) {
      expect(stdout).toContain(`rank ${rank} says so\n`)
      expect(stderr).toContain(`rank ${rank} warns\n`)
    }
  })
})

/** Runs code as a program that ends by itself; it finds the built package by its name. */
function node(code: string): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code], {
    cwd: fileURLToPath(new URL('../../..', import.meta.url)),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (exitCode, signal) => {
      if (exitCode === 0) resolve({ stdout, stderr })
      else reject(new Error(`ended with ${exitCode ?? signal}: ${stdout}${stderr}`))
    })
  })
}
