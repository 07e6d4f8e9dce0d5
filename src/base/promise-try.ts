/**
 * A promise also of what is thrown before there is one. Methods that return a promise never throw; an `async` function
 * around the promise they return would give the same, but keeps some 500 bytes per waiting rank.
 */
export function promiseTry<T>(start: () => Promise<T>): Promise<T> {
  try {
    return start()
  } catch (error) {
    return Promise.reject(error)
  }
}
