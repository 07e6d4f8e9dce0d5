import type { WorldInfo } from '../../../src/client/protocol/worlds.js'
import { WorldMember } from '../../../src/client/world-member.js'
import { isRankweaveError } from '../../../src/errors.js'
import { h } from '../dom.js'

/**
 * Milliseconds until a connection that was lost is tried again: twice as long every time, up to the second.
 */
const [firstRetryMs, lastRetryMs] = [1_000, 30_000]

/** Worlds of the service and their communicators, as they change. */
export function worldsPanel(token: string): HTMLElement {
  const list = h('ul', { class: 'worlds' })
  const say = (text: string) => list.replaceChildren(h('li', { class: 'note' }, text))
  let retryMs = firstRetryMs
  const follow = async () => {
    const worlds = new Map<string, WorldInfo>()
    const draw = () => {
      if (worlds.size === 0) say('none')
      else list.replaceChildren(...[...worlds.values()].map(worldItem))
    }
    const member = await WorldMember.connect({
      url: location.origin,
      ...(token === '' ? {} : { token }),
    })
    member.on('world', ({ world }) => {
      worlds.set(world.id, world)
      draw()
    })
    member.on('worldEnded', ({ world }) => {
      worlds.delete(world)
      draw()
    })
    for (const world of await member.watch()) worlds.set(world.id, world)
    draw()
    retryMs = firstRetryMs
    throw await member.closed
  }
  const connect = () => {
    follow().catch((reason: unknown) => {
      // Another one is entered first.
      if (isRankweaveError(reason, 'ERR_TOKEN')) {
        say('not connected: the service expects a token')
        return
      }
      say('not connected; it is tried again')
      setTimeout(connect, retryMs)
      retryMs = Math.min(lastRetryMs, 2 * retryMs)
    })
  }
  say('not connected')
  connect()
  return h('section', { 'aria-labelledby': 'worlds' }, h('h2', { id: 'worlds' }, 'Worlds'), list)
}

function worldItem(world: WorldInfo): HTMLElement {
  const { id, name, state, members, programs, joined, lost, communicators } = world
  const counted = state === 'waiting' ? `${joined} of ${members} members` : `${members} members`
  const facts = programs === 0 ? counted : `${counted}, ${programs} programs`
  const losses = lost.length === 0 ? '' : `, lost: ${lost.join(', ')}`
  return h('li', {}, h('strong', {}, name ?? id), ` ${state}, ${facts}${losses}`, tree(communicators, null))
}

/** Lists communicators below the one from which each was made. */
function tree(all: WorldInfo['communicators'], parent: string | null): HTMLElement {
  const children = all.filter((each) => each.parent === parent)
  return h(
    'ul',
    {},
    ...children.map(({ id, operation, color, size }) =>
      h(
        'li',
        {},
        `${id === 'world' ? 'world' : `${operation}${color === null ? '' : ` color ${color}`}`}: ${size} ranks`,
        all.some((each) => each.parent === id) ? tree(all, id) : null,
      ),
    ),
  )
}
