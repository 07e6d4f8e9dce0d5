import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { Answer } from './run-cli.js'

const main = fileURLToPath(new URL('../../../src/cli/main.ts', import.meta.url))
const tsx = createRequire(import.meta.url).resolve('tsx')

/** The command as a shell word list, from source: no test depends on what was built last. */
export const command = [process.execPath, '--import', tsx, main] as const

type Kill = (signal: NodeJS.Signals) => void

/** One command line in a process of its own; `onOutput` and `onError` see what it writes as it comes. */
export function spawnCli(
  argv: readonly string[],
  options: {
    readonly cwd?: string
    readonly onOutput?: (text: string, kill: Kill) => void
    readonly onError?: (text: string, kill: Kill) => void
  } = {},
): Promise<Answer> {
  const [node, ...fixed] = command
  const child = spawn(node, [...fixed, ...argv], { cwd: options.cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  const kill: Kill = (signal) => child.kill(signal)
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
    options.onOutput?.(text, kill)
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
    options.onError?.(text, kill)
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (exitCode, signal) => {
      if (exitCode === null) reject(new Error(`ended by ${signal}: ${stderr}`))
      else resolve({ exitCode, stdout, stderr })
    })
  })
}
