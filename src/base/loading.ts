let loads = 0

/**
 * Loads modules inside a call. Ranks wait meanwhile. If a hook or another thread finds a module, Node reports no active
 * resource, so without a count the ranks would seem stuck.
 */
export async function whileLoading<T>(load: () => Promise<T>): Promise<T> {
  loads++
  try {
    return await load()
  } finally {
    loads--
  }
}

/** Whether a call of this thread loads modules. */
export function isLoading(): boolean {
  return loads > 0
}
