import type { PlanRequest, TopologyInfo } from '../../../src/client/protocol/http.js'
import { h } from '../dom.js'

const strategies = [
  'common-neighbor',
  'auto',
  'direct',
  'descending',
  'cumulative',
  'hierarchical',
  'lanes',
  'allgather',
]

/** Makes the form in which the options of a plan are tried. */
export function planForm(
  { id, ranks }: TopologyInfo,
  { plan }: { readonly plan: (request: PlanRequest, bytes: number | undefined) => void },
  ...buttons: readonly HTMLElement[]
): HTMLElement {
  const strategy = h('input', { name: 'strategy', value: 'common-neighbor', list: 'strategies', size: 18 })
  const k = h('input', { type: 'number', name: 'k', min: 2, max: Math.max(2, ranks), value: 2 })
  const theta = h('input', { type: 'number', name: 'theta', min: 0, placeholder: 'default' })
  const cores = 16
  const machine = h('input', {
    name: 'machine',
    size: 44,
    value: `cluster:nodes=${Math.max(1, Math.ceil(ranks / cores))},cores=${cores},profile=simgrid-fast`,
  })
  const bytes = h('input', { type: 'number', name: 'bytes', min: 0, value: 1024 })
  const submit = (event: Event) => {
    event.preventDefault()
    const isCommon = strategy.value === 'common-neighbor'
    const length = bytes.value === '' ? undefined : bytes.valueAsNumber
    const request = {
      topology: id,
      strategy: strategy.value,
      ...(isCommon ? { k: k.valueAsNumber } : {}),
      ...(isCommon && theta.value !== '' ? { theta: theta.valueAsNumber } : {}),
      ...(machine.value === '' ? {} : { machine: machine.value }),
      // A plan depends on the length only if its strategy is chosen; requests for pictures always have it.
      ...(strategy.value.startsWith('auto') && length !== undefined ? { bytes: length } : {}),
    }
    plan(request, length)
  }
  return h(
    'form',
    { class: 'inline what-if', 'aria-label': 'What if', onsubmit: submit },
    h('datalist', { id: 'strategies' }, ...strategies.map((value) => h('option', { value }))),
    h('label', {}, 'Strategy ', strategy),
    h('label', {}, 'k ', k),
    h('label', {}, 'theta ', theta),
    h('label', {}, 'Machine ', machine),
    h('label', {}, 'Bytes per block ', bytes),
    h('button', { type: 'submit', class: 'main' }, 'Plan'),
    ...buttons,
  )
}
