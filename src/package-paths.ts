/**
 * Files of this package by URL. The one module that may say where it lies: bundled or not, compiled or as source, it is
 * directly in the folder that holds what it names, and the package's manifest is beside that folder.
 */
const here = import.meta.url
const extension = here.endsWith('.ts') ? 'ts' : 'js'

/** Whether this is the source, which Node loads through a compiler's hook only. */
export const isSource = extension === 'ts'

/** @param name path below `src` without extension, such as `cli/program/spmm-program` */
export function ownModule(name: string): URL {
  return new URL(`./${name}.${extension}`, here)
}

export const manifestFile = new URL('../package.json', here)

/** The entry of worker threads. */
export const workerFile = new URL(isSource ? './worker-from-source.mjs' : './worker.js', here)
