import { describe, expect, test } from 'vitest'
import { algorithmOf } from '../../../../src/collective/algorithms.js'
import type { Shape } from '../../../../src/collective/patterns/algorithm.js'
import { scheduleOf } from '../../../../src/collective/patterns/schedule-size.js'
import { nodesOfGrid, type SentMessage, sentMessages, torusGrid } from '../../../support/way-messages.js'

const messagesOf = (id: string, shape: Shape) => sentMessages(scheduleOf(algorithmOf(id), shape))
const phasesOf = (id: string, shape: Shape) => scheduleOf(algorithmOf(id), shape).phases

const listed = (messages: readonly SentMessage[]): readonly string[] =>
  messages
    .map(
      ({ phase, source, destination, blocks }) =>
        `${phase} ${source} ${destination} ${blocks.toSorted((a, b) => a - b)}`,
    )
    .sort()

/** The same messages in the other direction, the last first. */
const reversed = (messages: readonly SentMessage[], phases: number): readonly SentMessage[] =>
  messages.map(({ phase, source, destination, blocks }) => ({
    ...{ phase: phases - 1 - phase, source: destination, destination: source, blocks },
  }))

/** Rank counts, and grids in which the orders differ. */
const shapes: readonly Shape[] = [
  ...Array.from({ length: 39 }, (_, i) => ({ ranks: i + 1 })),
  ...[
    [4, 4, 4],
    [3, 5, 2],
    [5, 6],
  ].map((dims) => ({ ranks: nodesOfGrid(torusGrid(dims)), grid: torusGrid(dims) })),
]

describe('a reduce-scatter has the messages of the allgather, in the other direction and the last first:', () => {
  test.each(['reordered', 'reordered:order=halving', 'bucket'])('%s', (setting) => {
    for (const shape of shapes) {
      const gathered = messagesOf(`allgather-${setting}`, shape)
      const phases = phasesOf(`allgather-${setting}`, shape)
      const scattered = messagesOf(`reduce-scatter-${setting}`, shape)
      expect(listed(scattered)).toEqual(listed(reversed(gathered, phases)))
    }
  })

  test.each(['reordered:ports=3', 'bucket:ports=3', 'bucket:ports=6'])('%s', (setting) => {
    for (const dims of [
      [3, 3, 3],
      [4, 3, 2],
    ]) {
      const grid = torusGrid(dims)
      const shape = { ranks: nodesOfGrid(grid), segments: Number(setting.at(-1)), grid }
      // Where extents differ a short ring's message takes several stages, and is in the last of them either way.
      const inPhase = (messages: readonly SentMessage[]) =>
        dims[0] === dims[2] ? messages : messages.map((message) => ({ ...message, phase: 0 }))
      const gathered = messagesOf(`allgather-${setting}`, shape)
      const phases = phasesOf(`allgather-${setting}`, shape)
      const scattered = messagesOf(`reduce-scatter-${setting}`, shape)
      expect(listed(inPhase(scattered))).toEqual(listed(inPhase(reversed(gathered, phases))))
    }
  })
})

const extents = (messages: readonly SentMessage[], start = 0): readonly string[] =>
  messages
    .map(
      ({ phase, source, destination, blocks }) =>
        `${phase + start} ${source} ${destination} ${blocks.length}`,
    )
    .sort()

describe('an allreduce has the messages of a reduce-scatter and an allgather, and no shuffle:', () => {
  test.each(['reordered', 'reordered:order=halving', 'bucket'])('%s', (setting) => {
    for (const shape of shapes) {
      const scattered = messagesOf(`reduce-scatter-${setting}`, shape)
      const gathered = messagesOf(`allgather-${setting}`, shape)
      const start = phasesOf(`reduce-scatter-${setting}`, shape)
      const expected = [...extents(scattered), ...extents(gathered, shape.ranks === 1 ? 0 : start)].sort()
      expect(extents(messagesOf(`allreduce-${setting}`, shape))).toEqual(expected)
    }
  })
})

describe('a broadcast scatters along the order and brings nothing twice:', () => {
  test.each(['reordered', 'reordered:order=doubling', 'bucket'])('%s', (setting) => {
    for (const shape of shapes) {
      const { ranks } = shape
      for (const root of new Set([0, ranks - 1, ranks >> 1])) {
        const messages = messagesOf(`bcast-${setting}`, { ...shape, root })
        const got = Array.from({ length: ranks }, () => [] as number[])
        for (const { destination, blocks } of messages) got[destination].push(...blocks)
        for (const [rank, parts] of got.entries()) {
          expect(parts.length).toBe(rank === root ? 0 : ranks)
          expect(new Set(parts).size).toBe(parts.length)
        }
        // The tree of a scatter; no phase but its own and those of the ways.
        const scatter = Math.ceil(Math.log2(ranks))
        expect(messages.filter(({ phase }) => phase < scatter).length).toBe(ranks - 1)
        expect(phasesOf(`bcast-${setting}`, { ...shape, root })).toBeLessThanOrEqual(
          scatter + Math.max(1, phasesOf(`allgather-${setting}`, shape)),
        )
      }
    }
  })
})

describe('a reduce has the messages of a reduce-scatter, then those of a gather up the tree:', () => {
  test.each(['reordered', 'bucket'])('%s', (setting) => {
    for (const shape of shapes) {
      const { ranks } = shape
      const scattered = messagesOf(`reduce-scatter-${setting}`, shape)
      const start = phasesOf(`reduce-scatter-${setting}`, shape)
      const messages = messagesOf(`reduce-${setting}`, { ...shape, root: ranks >> 1 })
      const isFirst = ({ phase }: SentMessage) => ranks > 1 && phase < start
      expect(extents(messages.filter(isFirst))).toEqual(extents(scattered))
      expect(messages.filter((message) => !isFirst(message)).length).toBe(ranks - 1)
    }
  })
})
