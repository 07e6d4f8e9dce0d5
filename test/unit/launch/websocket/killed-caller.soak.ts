import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { compiledUrl } from '../../../support/compiled.js'

const program = compiledUrl('threads-program.ts')

it('processes connected by WebSockets end when their caller is killed, also one that computes without end', async () => {
  const code = `
    import { run } from 'rankweave'
    const args = { kind: 'pids' }
    await run(new URL(${JSON.stringify(program.href)}), { ranks: 2, fabric: 'websocket', args })`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code], {
    cwd: fileURLToPath(new URL('../../../..', import.meta.url)),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  let pids: number[] = []
  for await (const part of child.stdout.setEncoding('utf8')) {
    text += String(part)
    pids = [...text.matchAll(/pid (\d+)\n/g)].map(([, pid]) => Number(pid))
    if (pids.length === 2) child.kill('SIGKILL')
  }
  // The output ends when the last process that holds it has ended.
  expect(pids).toHaveLength(2)
  while (pids.some(isRunning)) await new Promise((resolve) => setTimeout(resolve, 10))
})

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
