import { escapeXml } from '../text/printable.js'

/** The attributes of an element of SVG, in the order in which they are written; undefined ones are left out. */
export type Attributes = Readonly<Record<string, string | number | undefined>>

/** An element of a picture. */
export interface Shape {
  readonly tag:
    | 'circle'
    | 'defs'
    | 'desc'
    | 'g'
    | 'marker'
    | 'path'
    | 'rect'
    | 'style'
    | 'svg'
    | 'text'
    | 'title'
  readonly attributes: Attributes
  /** The text of the element, or the shapes inside it. */
  readonly content?: string | Iterable<Shape>
  /** The text that a viewer shows over the shape. */
  readonly tooltip?: string
}

/** A drawing in units of its own, from its upper left corner. */
export interface Picture {
  readonly width: number
  readonly height: number
  /** Whether it becomes as wide as the page that shows it, instead of having its own size. */
  readonly isFluid?: true
  /** The attributes that all shapes share, such as the font. */
  readonly attributes: Attributes
  /** The shapes, the lowest first. A generator is drawn once, piece by piece. */
  readonly shapes: Iterable<Shape>
}

export function shape(tag: Shape['tag'], attributes: Attributes, content?: Shape['content']): Shape {
  return content === undefined ? { tag, attributes } : { tag, attributes, content }
}

/** Returns pictures as one, from the left to the right or from the top to the bottom, with a gap between them. */
export function joined(pictures: readonly Picture[], direction: 'across' | 'down', gap: number): Picture {
  let [x, y, width, height] = [0, 0, 0, 0]
  const shapes = pictures.map((picture) => {
    const { width: wide, height: high, attributes } = picture
    const placed = { x, y, width: wide, height: high, viewBox: viewBox(picture), ...attributes }
    width = Math.max(width, x + wide)
    height = Math.max(height, y + high)
    if (direction === 'across') x += wide + gap
    else y += high + gap
    return shape('svg', placed, picture.shapes)
  })
  return { width, height, attributes: {}, shapes }
}

export function viewBox({ width, height }: Picture): string {
  return `0 0 ${width} ${height}`
}

/** Writes a picture as SVG, one element per line. */
export function* svgOf(picture: Picture): Generator<string> {
  const { width, height, isFluid, attributes, shapes } = picture
  const size = isFluid ? {} : { width, height }
  const root = { xmlns: 'http://www.w3.org/2000/svg', ...size, viewBox: viewBox(picture), ...attributes }
  yield* elementOf({ tag: 'svg', attributes: root, content: shapes })
}

/** Writes a picture as {@link svgOf} does, in one text. */
export function svgText(picture: Picture): string {
  return [...svgOf(picture)].join('')
}

function* elementOf({ tag, attributes, content, tooltip }: Shape): Generator<string> {
  const start = `<${tag}${attributesText(attributes)}`
  if (tooltip !== undefined) yield `${start}><title>${escapeXml(tooltip)}</title></${tag}>\n`
  else if (content === undefined) yield `${start}/>\n`
  else if (typeof content === 'string') yield `${start}>${escapeXml(content)}</${tag}>\n`
  else {
    yield `${start}>\n`
    for (const each of content) yield* elementOf(each)
    yield `</${tag}>\n`
  }
}

function attributesText(attributes: Attributes): string {
  let text = ''
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined) text += ` ${name}="${typeof value === 'number' ? value : escapeXml(value)}"`
  return text
}
