import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * A directory and those above it. Not `mkdir` with `recursive`: that of Node 20 tries for ever where a file system answers ENOENT
 * below a directory that is there, as /proc does.
 */
export async function makeDirectory(path: string): Promise<void> {
  const make = () =>
    mkdir(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  const above = dirname(path)
  await make().catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT' || above === path) throw error
    await makeDirectory(above)
    await make()
  })
}
