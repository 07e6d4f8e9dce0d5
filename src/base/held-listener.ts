type Listener = Parameters<NodeJS.EventEmitter['on']>[1]

/**
 * Adds a listener of this process that is added again when a program removes it, as `process.removeAllListeners` does.
 *
 * @returns a function that removes it for good
 */
export function holdListener(event: string, listener: Listener): () => void {
  const emitter: NodeJS.EventEmitter = process
  let isHeld = true
  const remove = () => void emitter.off('removeListener', onRemoved).off(event, listener)
  const add = () => {
    if (!isHeld) return
    remove()
    emitter.on(event, listener).on('removeListener', onRemoved)
  }
  const onRemoved = (_: string, removed: unknown) => {
    // Node still walks the listeners that it removes.
    if (removed === listener) queueMicrotask(add)
  }
  add()
  return () => {
    isHeld = false
    remove()
  }
}
