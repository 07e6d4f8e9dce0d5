import { ServiceClient, type ViewOptions } from '../../src/client/service-client.js'
import type { PlanView } from '../../src/report/plan-view.js'
import type { TopologyView } from '../../src/report/topology-view.js'
import type { PlanInfo, TopologyFormat, TopologyInfo } from '../../src/service/protocol/http.js'
import { announce, h } from './dom.js'
import { figure } from './format.js'
import type { RankSource } from './source.js'
import { allViews, type Views } from './views/all.js'
import { planForm } from './views/plan-form.js'
import { worldsPanel } from './views/worlds.js'

const tokenKey = 'rankweave-token'

/** The page of a service: topologies, plans and worlds, and the pictures of what is chosen. */
export function showService(page: HTMLElement): void {
  const token = sessionStorage.getItem(tokenKey) ?? ''
  const client = new ServiceClient({ url: location.origin, ...(token === '' ? {} : { token }) })
  const status = h('p', { id: 'announcements', role: 'status', 'aria-live': 'polite', class: 'status' })
  const list = h('ul', { class: 'topologies' })
  const content = h(
    'div',
    {},
    h('p', { class: 'note' }, 'Upload a topology, or name one such as moore:16x16:r=2.'),
  )
  let views: Views | null = null
  let chosen: TopologyInfo | null = null

  const attempt = async (what: string, act: () => Promise<void>) => {
    status.classList.remove('error')
    announce(`${what} …`)
    try {
      await act()
    } catch (error) {
      status.classList.add('error')
      announce(error instanceof Error ? `${codeOf(error)}${error.message}` : String(error))
    }
  }
  const refresh = async () => {
    const topologies = await client.topologies()
    list.replaceChildren(
      ...topologies.map((info) =>
        h(
          'li',
          {},
          h(
            'button',
            {
              type: 'button',
              class: 'link',
              'aria-current': info.id === chosen?.id ? 'true' : null,
              onclick: () => void attempt('reading', () => show(info)),
            },
            info.name || info.id.slice(0, 12),
          ),
          h('small', {}, `${figure(info.ranks)} ranks, ${figure(info.edges)} edges`),
        ),
      ),
    )
  }
  const sourceOf = (info: TopologyInfo, plan: PlanInfo | null, used: PlanView | null): RankSource => ({
    neighborhood: async (rank) => (await client.topologyView(info.id, { rank })).neighborhood,
    program: async (rank) => {
      const known = used?.ranks.find((view) => view.rank === rank)
      if (known !== undefined || plan === null) return known ?? null
      return (await client.planView(plan.id, { rank })).ranks[0] ?? null
    },
  })
  const draw = (
    info: TopologyInfo,
    topology: TopologyView,
    plan: PlanInfo | null,
    view: PlanView | null,
    shown: ViewOptions = {},
  ) => {
    views?.close()
    views = allViews(topology, view, sourceOf(info, plan, view))
    pictures.replaceChildren(views.element)
    download.disabled = plan === null
    download.onclick = () => {
      if (plan !== null) void attempt('report', () => save(client, plan, shown))
    }
  }
  const pictures = h('div')
  const download = h('button', { type: 'button', disabled: true }, 'Download report')
  const show = async (info: TopologyInfo) => {
    chosen = info
    const topology = await client.topologyView(info.id)
    await refresh()
    const form = planForm(info, {
      plan: (request, bytes) =>
        void attempt('planning', async () => {
          const plan = await client.plan(request, ({ state, progress }) =>
            announce(progress === null ? state : `${state}: ${progress.step}`),
          )
          announce('drawing …')
          const shown = bytes === undefined ? {} : { bytes }
          draw(info, topology, plan, await client.planView(plan.id, shown), shown)
          announce('done')
        }),
    })
    content.replaceChildren(h('h2', { class: 'chosen' }, info.name || info.id), form, download, pictures)
    draw(info, topology, null, null)
    announce(`${info.name || info.id}: ${figure(info.ranks)} ranks`)
  }

  page.replaceChildren(
    h('header', { class: 'bar' }, h('h1', {}, 'Rankweave'), status, tokenForm(token)),
    h(
      'div',
      { class: 'layout' },
      h(
        'nav',
        { 'aria-label': 'Topologies and worlds' },
        h('h2', {}, 'Topologies'),
        uploadForm(
          (content_, format, name) =>
            void attempt('uploading', async () => show(await client.upload(content_, { format, name }))),
        ),
        list,
        worldsPanel(token),
      ),
      h('main', {}, content),
    ),
  )
  void attempt('reading', async () => {
    await refresh()
    announce('')
  })
}

async function save(client: ServiceClient, plan: PlanInfo, shown: ViewOptions): Promise<void> {
  const address = URL.createObjectURL(new Blob([await client.report(plan.id, shown)], { type: 'text/html' }))
  h('a', { href: address, download: 'report.html' }).click()
  URL.revokeObjectURL(address)
  announce('report.html')
}

function codeOf(error: Error): string {
  const { code } = error as { readonly code?: unknown }
  return typeof code === 'string' ? `${code}: ` : ''
}

/** The token stays in this tab: it is sent in headers and first messages only. */
function tokenForm(token: string): HTMLElement {
  const input = h('input', { type: 'password', name: 'token', value: token, autocomplete: 'off', size: 12 })
  const submit = (event: Event) => {
    event.preventDefault()
    sessionStorage.setItem(tokenKey, input.value.trim())
    location.reload()
  }
  return h(
    'form',
    { class: 'inline token', onsubmit: submit },
    h('label', {}, 'Token ', input),
    h('button', { type: 'submit' }, 'Use'),
  )
}

type Upload = (content: string | Blob, format: TopologyFormat, name: string) => void

const formats: Readonly<Record<string, TopologyFormat>> = {
  mtx: 'mtx',
  csv: 'csv',
  json: 'json',
  graph: 'metis',
  metis: 'metis',
  edges: 'edges',
  txt: 'edges',
}

function uploadForm(upload: Upload): HTMLElement {
  const spec = h('input', { name: 'spec', value: 'moore:16x16:r=2', required: true })
  const file = h('input', {
    type: 'file',
    name: 'file',
    accept: '.mtx,.csv,.json,.graph,.metis,.edges,.txt,.gz',
  })
  file.addEventListener('change', () => {
    const [chosen] = file.files ?? []
    if (chosen === undefined) return
    const ending = chosen.name.replace(/\.gz$/, '').split('.').at(-1) ?? ''
    upload(chosen, formats[ending.toLowerCase()] ?? 'mtx', chosen.name)
  })
  const submit = (event: Event) => {
    event.preventDefault()
    upload(spec.value, 'spec', spec.value)
  }
  return h(
    'div',
    { class: 'upload' },
    h(
      'form',
      { class: 'inline', onsubmit: submit },
      h('label', {}, 'Name ', spec),
      h('button', { type: 'submit' }, 'Open'),
    ),
    h('label', {}, 'or upload a file ', file),
  )
}
