let loads = 0

/**
 * Loads modules inside a call. Ranks wait meanwhile, and Node does not name what brings a module where a hook or
 * another thread finds it: without a count, they would seem stuck.
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
