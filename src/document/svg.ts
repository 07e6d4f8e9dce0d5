import { escapeXml } from '../text/printable.js'
import { type Attributes, type Picture, type Shape, viewBox } from './picture.js'

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
