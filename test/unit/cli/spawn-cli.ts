import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { Answer } from './run-cli.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))

/**
 * The command as a shell word list, as it was built from the present source (test/support/build-library.ts).
 */
export const command: readonly string[] = [process.execPath, `${root}dist/cli/main.js`]

/** The command from source, which loads five times as long. */
export const commandFromSource: readonly string[] = [
  process.execPath,
  '--import',
  createRequire(import.meta.url).resolve('tsx'),
  `${root}src/cli/main.ts`,
]

type Kill = (signal: NodeJS.Signals) => void

/** One command line in its own process; `onOutput` and `onError` see what it writes as it comes. */
export function spawnCli(
  argv: readonly string[],
  options: {
    readonly cwd?: string
    /** Default: as built. */
    readonly command?: readonly string[]
    readonly onStart?: (kill: Kill) => void
    readonly onOutput?: (text: string, kill: Kill) => void
    readonly onError?: (text: string, kill: Kill) => void
  } = {},
): Promise<Answer> {
  const [node, ...fixed] = options.command ?? command
  const child = spawn(node, [...fixed, ...argv], { cwd: options.cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  const kill: Kill = (signal) => child.kill(signal)
  options.onStart?.(kill)
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
