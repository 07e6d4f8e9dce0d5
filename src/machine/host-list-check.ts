import { type HostForm, slotsOfHosts } from './host-list.js'

/** The oddities of host lists that the reader accepts, in the order of reports. */
const oddityKinds = [
  ...(['line-ends', 'ignored-fields', 'mixed-forms', 'hosts-without-slots'] as const),
  ...(['repeated-hosts', 'names-alike', 'uneven-slots'] as const),
] as const

export interface HostOddity {
  readonly kind: (typeof oddityKinds)[number]
  readonly count: number
  /** The first of them, at most 20, by line. */
  readonly places: readonly { readonly line: number; readonly text: string }[]
}

/** The result of reading a host list. */
export interface HostListCheck {
  /** The slots of every host, in the order of nodes. */
  readonly slots: ReadonlyMap<string, number>
  /** The forms of its lines, in their order. */
  readonly forms: readonly HostForm[]
  readonly oddities: readonly HostOddity[]
}

const mostPlaces = 20

/** The share of hosts whose slots are taken for those of all. */
const mostlyEven = 0.9

/**
 * Reads a host list as `machineFromHostList` does, and finds what is odd there although it was accepted.
 *
 * @throws ERR_MACHINE as machineFromHostList
 */
export function checkHostList(text: string): HostListCheck {
  const found = new Map<string, { count: number; places: { line: number; text: string }[] }>()
  const odd = (kind: HostOddity['kind'], line: number, message: string) => {
    const one = found.get(kind) ?? { count: 0, places: [] }
    found.set(kind, one)
    if (++one.count <= mostPlaces) one.places.push({ line, text: message })
  }
  const forms = new Set<HostForm>()
  /** The line in which each host occurs first. */
  const lines = new Map<string, number>()
  /** The first name of those that may be alike, by what they have in common. */
  const names = new Map<string, string>()
  const unslotted: { name: string; line: number }[] = []
  let last = ''

  const slots = slotsOfHosts(text, {
    ignored: (part, line) => odd('ignored-fields', line, `'${part}' has no effect`),
    host(name, count, form, line) {
      if (!forms.has(form) && forms.size > 0)
        odd('mixed-forms', line, `'${form}', after lines as '${[...forms].join("', '")}'`)
      forms.add(form)
      if (count === null) unslotted.push({ name, line })
      const first = lines.get(name)
      if (first === undefined) lines.set(name, line)
      else if (count !== null || last !== name)
        odd('repeated-hosts', line, `${name} is also in line ${first}: one node, whose slots add up`)
      last = name
      const key = name.toLowerCase().replace(/(?<=[a-z_-][^.]*)\..*/, '')
      const other = names.get(key)
      if (other === undefined) names.set(key, name)
      else if (other !== name && first === undefined)
        odd('names-alike', line, `${name} counts as another node than ${other} of line ${lines.get(other)}`)
    },
  })

  const [, end] = /(\r\n|\r)/.exec(text) ?? []
  if (end !== undefined) {
    const name = end === '\r' ? 'carriage returns alone' : 'carriage return and line feed'
    odd('line-ends', 1, `lines end with ${name}`)
  }
  if (forms.size > 1)
    for (const { name, line } of unslotted)
      odd('hosts-without-slots', line, `${name} has no slots, so it counts as one`)
  const usual = usualSlots(slots)
  for (const [name, count] of usual === null ? [] : slots)
    if (count !== usual)
      odd('uneven-slots', lines.get(name)!, `${name} has ${count}, where most hosts have ${usual}`)
  const oddities = oddityKinds.flatMap((kind) => {
    const one = found.get(kind)
    return one === undefined ? [] : [{ kind, ...one }]
  })
  return { slots, forms: [...forms], oddities }
}

/** Returns the slots that most hosts have; null if no number is that of nearly all. */
function usualSlots(slots: ReadonlyMap<string, number>): number | null {
  const counts = new Map<number, number>()
  for (const count of slots.values()) counts.set(count, (counts.get(count) ?? 0) + 1)
  const usual = [...counts].find(([, hosts]) => hosts < slots.size && hosts >= mostlyEven * slots.size)
  return usual?.[0] ?? null
}

/** Returns the list of checked hosts, a line each, as Open MPI reads it. */
export function hostListText(slots: ReadonlyMap<string, number>): string {
  return Array.from(slots, ([host, count]) => `${host} slots=${count}\n`).join('')
}
