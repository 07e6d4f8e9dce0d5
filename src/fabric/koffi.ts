import { RankweaveError, reasonText } from '../errors.js'

/** @internal The optional package, whose types are not ours to publish. */
export type Koffi = typeof import('koffi')

/**
 * @internal Loads koffi.
 *
 * @param purpose what needs it: `fabric mpi`
 * @throws `code`
 */
export async function importKoffi(
  purpose: string,
  code: 'ERR_KOFFI' | 'ERR_MPI_KOFFI' = 'ERR_KOFFI',
): Promise<Koffi> {
  try {
    const module = (await import('koffi')) as Koffi & { readonly default?: Koffi }
    return module.default ?? module
  } catch (cause) {
    const message = `${purpose} needs the optional package koffi, which cannot be loaded: npm install koffi (${reasonText(cause)})`
    throw new RankweaveError(code, message, { cause })
  }
}
