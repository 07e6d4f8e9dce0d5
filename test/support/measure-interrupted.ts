import { readFileSync, watch, writeFileSync } from 'node:fs'
import { spawnCli } from '../unit/cli/spawn-cli.js'

/** Runs `rankweave measure`, and interrupts it once its file has a line. */
export async function measureInterrupted(file: string, ...words: readonly string[]) {
  writeFileSync(file, '')
  const watched = new Promise<void>((resolve) => {
    const watcher = watch(file, () => {
      if (!readFileSync(file, 'utf8').includes('\n')) return
      watcher.close()
      resolve()
    })
  })
  return await spawnCli(['measure', ...words, '-o', file], {
    onStart: (kill) => void watched.then(() => kill('SIGINT')),
  })
}
