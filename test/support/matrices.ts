import { readdirSync, readFileSync } from 'node:fs'
import { readMatrixMarket, type SparseMatrix } from 'rankweave/topology'

const folder = new URL('../matrices/', import.meta.url)
const files = readdirSync(folder).filter((file) => /\.mtx(\.gz)?$/.test(file))

/** Names of the real matrices in `test/matrices`, without extension. */
export const matrixNames: readonly string[] = files.map((file) => file.replace(/\.mtx(\.gz)?$/, '')).sort()

/** Reads a matrix of `test/matrices` by its name. */
export function readMatrix(name: string): SparseMatrix {
  const file = files.find((candidate) => candidate === `${name}.mtx` || candidate === `${name}.mtx.gz`)
  if (file === undefined) throw new Error(`test/matrices has no ${name}`)
  return readMatrixMarket(readFileSync(new URL(file, folder)), { file: `${name}.mtx` })
}
