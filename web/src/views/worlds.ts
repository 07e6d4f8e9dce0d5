import type { WorldInfo } from '../../../src/service/protocol/worlds.js'
import { h } from '../dom.js'

type Message =
  | { readonly reply: number; readonly worlds?: readonly WorldInfo[] }
  | { readonly event: 'world'; readonly world: WorldInfo }
  | { readonly event: 'worldEnded'; readonly world: string }

/** Worlds of the service and their communicators, as they change. */
export function worldsPanel(token: string): HTMLElement {
  const worlds = new Map<string, WorldInfo>()
  const list = h('ul', { class: 'worlds' }, h('li', { class: 'note' }, 'none'))
  const draw = () => {
    const items = [...worlds.values()].map(worldItem)
    list.replaceChildren(...(items.length === 0 ? [h('li', { class: 'note' }, 'none')] : items))
  }
  const address = new URL('/v1/worlds', location.href)
  address.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:'
  const socket = new WebSocket(address)
  socket.addEventListener('open', () => {
    socket.send(JSON.stringify({ id: 1, kind: 'hello', protocol: 1, ...(token === '' ? {} : { token }) }))
    socket.send(JSON.stringify({ id: 2, kind: 'watch' }))
  })
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data)) as Message
    if ('reply' in message) for (const world of message.worlds ?? []) worlds.set(world.id, world)
    else if (message.event === 'world') worlds.set(message.world.id, message.world)
    else if (message.event === 'worldEnded') worlds.delete(message.world)
    draw()
  })
  socket.addEventListener('close', () => list.replaceChildren(h('li', { class: 'note' }, 'not connected')))
  return h('section', { 'aria-labelledby': 'worlds' }, h('h2', { id: 'worlds' }, 'Worlds'), list)
}

function worldItem(world: WorldInfo): HTMLElement {
  const { id, name, state, members, programs, joined, lost, communicators } = world
  const counted = state === 'waiting' ? `${joined} of ${members} members` : `${members} members`
  const facts = programs === 0 ? counted : `${counted}, ${programs} programs`
  const losses = lost.length === 0 ? '' : `, lost: ${lost.join(', ')}`
  return h('li', {}, h('strong', {}, name ?? id), ` ${state}, ${facts}${losses}`, tree(communicators, null))
}

/** Which communicator was made of which. */
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
