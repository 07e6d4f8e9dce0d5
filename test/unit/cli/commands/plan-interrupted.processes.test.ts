import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { expect, it } from 'vitest'
import { ownFolder } from '../../../support/temporary-folder.js'
import { typed } from '../run-cli.js'
import { command } from '../spawn-cli.js'

const folder = ownFolder('plan-interrupted')

/** Standard error is a pipe here: as on a terminal, progress is shown. */
const onTerminal = 'data:text/javascript,process.stderr.isTTY=true'

// A shell reports 130 of a command that SIGINT ends. The search takes several seconds.
it.skipIf(process.platform === 'win32')(
  'Ctrl-C ends plan inside its search and leaves no file (no such signal on Windows)',
  async () => {
    const [node, ...fixed] = command
    const line = typed`plan er:128:d=0.3:seed=1 --engine exact --k 2 -o ${folder}/exact.jsonl`
    const child = spawn(node, ['--import', onTerminal, ...fixed, ...line], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let stderr = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
      if (stderr.includes('choosing among')) child.kill('SIGINT')
    })
    const ended = await new Promise((resolve) =>
      child.once('close', (code, signal) => resolve([code, signal])),
    )
    expect(ended, stderr).toEqual([null, 'SIGINT'])
    expect(readdirSync(folder)).toEqual([])
  },
)
