type Child = Node | string | number | null | false
type Handler = (event: Event) => void
export type Properties = Readonly<Record<string, string | number | boolean | null | undefined | Handler>>

/** An element with attributes, listeners (`onclick`) and children. Text is text, never HTML. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Properties = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag)
  assign(element, properties)
  append(element, children)
  return element
}

/** Makes an element of SVG, as {@link h} makes one of HTML. */
export function svg(tag: string, properties: Properties = {}, ...children: readonly Child[]): SVGElement {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag)
  assign(element, properties)
  append(element, children)
  return element
}

function assign(element: Element, properties: Properties): void {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue
    if (typeof value === 'function') element.addEventListener(name.replace(/^on/, ''), value)
    else element.setAttribute(name, value === true ? '' : String(value))
  }
}

function append(element: Element, children: readonly Child[]): void {
  for (const child of children) {
    if (child === null || child === false) continue
    element.append(child instanceof Node ? child : String(child))
  }
}

/** A table with a caption, a header row and, where a cell is a number, figures aligned to the right. */
export function table(
  caption: string,
  head: readonly string[],
  rows: readonly (readonly (string | number | HTMLElement)[])[],
): HTMLTableElement {
  return h(
    'table',
    {},
    h('caption', {}, caption),
    h('thead', {}, h('tr', {}, ...head.map((text) => h('th', { scope: 'col' }, text)))),
    h(
      'tbody',
      {},
      ...rows.map((cells) =>
        h(
          'tr',
          {},
          ...cells.map((cell, i) => {
            const isFigure = typeof cell !== 'object' && /^[-+−]?[\d,.]+( |$|x|%)/.test(String(cell))
            const properties = isFigure ? { class: 'figure' } : {}
            return i === 0 ? h('th', { scope: 'row', ...properties }, cell) : h('td', properties, cell)
          }),
        ),
      ),
    ),
  )
}

/** A part of the page with a heading. */
export function panel(title: string, properties: Properties, ...children: readonly Child[]): HTMLElement {
  const id = `title-${title.toLowerCase().replaceAll(/[^a-z]+/g, '-')}`
  return h('section', { 'aria-labelledby': id, ...properties }, h('h2', { id }, title), ...children)
}

/** Announces a text to a reader who hears the page instead of seeing it. */
export function announce(text: string): void {
  const live = document.getElementById('announcements')
  if (live !== null) live.textContent = text
}

/** A choice of few, as radio buttons in one row. */
export function choice<T extends string>(
  label: string,
  options: readonly (readonly [T, string])[],
  chosen: T,
  onChoice: (value: T) => void,
): HTMLElement {
  const name = `choice-${++choices}`
  return h(
    'fieldset',
    { class: 'choice' },
    h('legend', {}, label),
    ...options.map(([value, text]) =>
      h(
        'label',
        {},
        h('input', {
          type: 'radio',
          name,
          value,
          checked: value === chosen,
          onchange: () => onChoice(value),
        }),
        h('span', {}, text),
      ),
    ),
  )
}

let choices = 0
