// First-in-first-out queues by number; a queue that has become empty is removed.

export function append<T>(queues: Map<number, T[]>, key: number, item: T): void {
  const queue = queues.get(key)
  if (queue === undefined) queues.set(key, [item])
  else queue.push(item)
}

export function takeFirst<T>(queues: Map<number, T[]>, key: number): T | undefined {
  const queue = queues.get(key)
  if (queue === undefined) return undefined
  if (queue.length > 1) return queue.shift()
  queues.delete(key)
  return queue[0]
}
