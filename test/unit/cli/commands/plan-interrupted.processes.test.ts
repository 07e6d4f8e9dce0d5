import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../../support/temporary-folder.js'
import { command } from '../spawn-cli.js'

const folder = temporaryFolder('plan-interrupted')

/** Standard error is a pipe here: as on a terminal, progress is shown. */
const onTerminal = 'data:text/javascript,process.stderr.isTTY=true'

// A shell reports 130 of a command that SIGINT ends. Each search takes at least several seconds.
it.skipIf(process.platform === 'win32').each([
  ['greedy', 'er:2048:d=0.3:seed=1', '3', 'search'],
  ['improved', 'er:1024:d=0.1:seed=1', '2', 'improving'],
  ['exact', 'er:128:d=0.3:seed=1', '2', 'choosing among'],
])(
  'Ctrl-C ends plan --engine %s inside its search and leaves no file (no such signal on Windows)',
  async (engine, spec, k, progress) => {
    const [node, ...fixed] = command
    const file = join(folder(), `${engine}.jsonl`)
    const words = ['plan', spec, '--engine', engine, '--k', k, '-o', file]
    const child = spawn(node, ['--import', onTerminal, ...fixed, ...words], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let stderr = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
      if (stderr.includes(progress)) child.kill('SIGINT')
    })
    const ended = await new Promise((resolve) =>
      child.once('close', (code, signal) => resolve([code, signal])),
    )
    expect(ended, stderr).toEqual([null, 'SIGINT'])
    expect(readdirSync(folder())).toEqual([])
  },
)
