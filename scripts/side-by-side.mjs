// Runs scripts of package.json at the same time, each on its own core where there are enough:
//   node scripts/side-by-side.mjs lint typecheck
// Prints what each has said when it ends, so that lines of two do not mix. Exit code 1 when one of them
// failed.
import { spawn } from 'node:child_process'
import { argv, stdout } from 'node:process'

/** @param {string} script @returns {Promise<boolean>} whether it succeeded */
function ran(script) {
  const child = spawn(`npm run -s ${script}`, { stdio: ['ignore', 'pipe', 'pipe'], shell: true })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      said += text
    })
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => {
      stdout.write(said)
      if (code !== 0) stdout.write(`npm run ${script} failed\n`)
      resolve(code === 0)
    })
  })
}

const all = await Promise.all(argv.slice(2).map(ran))
if (!all.every(Boolean)) process.exit(1)
