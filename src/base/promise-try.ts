/**
 * Turns what `start` throws into a rejected promise, so that methods that return a promise never throw. An
 * `async` function around the promise would do the same, but retains some 500 bytes per waiting rank.
 */
export function promiseTry<T>(start: () => Promise<T>): Promise<T> {
  try {
    return start()
  } catch (error) {
    return Promise.reject(error)
  }
}
