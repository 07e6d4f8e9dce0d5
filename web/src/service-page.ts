import type { PlanInfo, PlanRequest, TopologyInfo, UploadFormat } from '../../src/client/protocol/http.js'
import { ServiceClient, type ViewOptions } from '../../src/client/service-client.js'
import type { PlanView } from '../../src/report/plan-view.js'
import type { TopologyView } from '../../src/report/topology-view.js'
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
    h(
      'p',
      { class: 'note' },
      'Open a topology: who sends to whom. Name one, such as moore:16x16:r=2, or upload a file. Then plan its exchange.',
    ),
  )
  let views: Views | null = null
  let chosen: TopologyInfo | null = null
  /** Counts what was asked for: an answer that something else was asked for after is not drawn. */
  let asked = 0

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
  const ask = () => {
    const mine = ++asked
    return () => mine === asked
  }
  const sourceOf = (info: TopologyInfo, plan: PlanInfo | null, used: PlanView | null): RankSource => ({
    neighborhood: async (rank) => (await client.topologyView(info.id, { rank })).neighborhood,
    whyNoProgram: 'Press Plan: then the program of this rank is shown.',
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
    const picked = plan === null ? null : (views?.picked() ?? null)
    views?.close()
    views = allViews(topology, view, sourceOf(info, plan, view))
    pictures.replaceChildren(views.element)
    if (picked !== null) views.pick(picked, false)
    download.disabled = plan === null
    download.onclick = () => {
      if (plan !== null) void attempt('report', () => save(client, plan, shown))
    }
  }
  const pictures = h('div')
  const download = h('button', { type: 'button', disabled: true }, 'Download report')
  const show = async (info: TopologyInfo) => {
    const isLast = ask()
    const topology = await client.topologyView(info.id)
    if (!isLast()) return
    chosen = info
    await refresh()
    const cancel = h('button', { type: 'button', disabled: true, onclick: () => stop() }, 'Cancel')
    let stop = () => {}
    const planned = async (request: PlanRequest, bytes: number | undefined) => {
      const isLast = ask()
      stop = () => {}
      try {
        const plan = await client.plan(request, ({ id, state, progress }) => {
          if (!isLast()) return
          announce(progress === null ? state : `${state}: ${progress.step}`)
          cancel.disabled = state !== 'queued' && state !== 'running'
          stop = () => void attempt('cancelling', async () => void (await client.cancel(id)))
        })
        if (!isLast()) return
        announce('drawing …')
        const shown = bytes === undefined ? {} : { bytes }
        const view = await client.planView(plan.id, shown)
        if (!isLast()) return
        draw(info, topology, plan, view, shown)
        announce('done')
      } finally {
        if (isLast()) cancel.disabled = true
      }
    }
    const plan = (request: PlanRequest, bytes: number | undefined) =>
      void attempt('planning', () => planned(request, bytes))
    const form = planForm(info, { plan }, cancel, download)
    content.replaceChildren(h('h2', { class: 'chosen' }, info.name || info.id), form, pictures)
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
          (body, options) => void attempt('uploading', async () => show(await client.upload(body, options))),
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

type Upload = (
  body: string | Blob,
  options: { readonly format: UploadFormat; readonly name: string; readonly ranks?: number },
) => void

const formats: Readonly<Record<string, UploadFormat>> = {
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
  const ranks = h('input', { type: 'number', name: 'ranks', min: 1, placeholder: 'one per row' })
  const file = h('input', {
    type: 'file',
    // Clearing the field makes a second choice of the same file a change, too.
    onclick: () => {
      file.value = ''
    },
    name: 'file',
    accept: '.mtx,.csv,.json,.graph,.metis,.edges,.txt,.gz',
  })
  file.addEventListener('change', () => {
    const [chosen] = file.files ?? []
    if (chosen === undefined) return
    const ending = chosen.name.replace(/\.gz$/, '').split('.').at(-1) ?? ''
    const format = formats[ending.toLowerCase()] ?? 'mtx'
    const isOfRows = format === 'mtx' && ranks.value !== ''
    upload(chosen, { format, name: chosen.name, ...(isOfRows ? { ranks: ranks.valueAsNumber } : {}) })
  })
  const submit = (event: Event) => {
    event.preventDefault()
    upload(spec.value, { format: 'spec', name: spec.value })
  }
  return h(
    'div',
    { class: 'upload' },
    h(
      'form',
      { class: 'inline', onsubmit: submit },
      h('label', {}, 'Topology ', spec),
      h('button', { type: 'submit' }, 'Open'),
    ),
    h('label', {}, 'or upload a file ', file),
    h('label', {}, 'Ranks that share the rows of a matrix ', ranks),
  )
}
