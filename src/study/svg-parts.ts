import { escapeXml } from '../text/printable.js'

/** Middle tones that are legible on white and on black; lines differ by marker and dashes too. */
export const colors = [
  ...['#3b82f6', '#e8590c', '#2f9e44', '#c2255c', '#9c6ade', '#0c9aaa', '#b58900', '#868e96'],
] as const

/** Text and rules take the color of the page or, in a separate picture, that of the reader's scheme. */
const style =
  '.ink{fill:#1f2933}.rule{stroke:#9aa5b1;stroke-opacity:.45}' +
  '@media (prefers-color-scheme:dark){.ink{fill:#e4e7eb}}'

/** Returns an SVG picture with a title and a description for readers who do not see it. */
export function picture(
  name: string,
  { width, height }: { readonly width: number; readonly height: number },
  { title, description }: { readonly title: string; readonly description: string },
  parts: readonly string[],
): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="${name}-title ${name}-desc" font-family="sans-serif" font-size="12">`,
    `<title id="${name}-title">${escapeXml(title)}</title>`,
    `<desc id="${name}-desc">${escapeXml(description)}</desc>`,
    `<style>${style}</style>`,
    ...parts,
    '</svg>\n',
  ].join('\n')
}

export type Anchor = 'start' | 'middle' | 'end'

export function words(x: number, y: number, content: string, anchor: Anchor, more = ''): string {
  return `<text class="ink" x="${fixed(x)}" y="${fixed(y)}" text-anchor="${anchor}"${more}>${escapeXml(content)}</text>`
}

export function rule(x1: number, y1: number, x2: number, y2: number): string {
  return `<path class="rule" d="M${fixed(x1)} ${fixed(y1)}L${fixed(x2)} ${fixed(y2)}"/>`
}

/** Returns the marker of a line: circle, square, triangle, diamond, in turn. */
export function marker(which: number, x: number, y: number, color: string): string {
  const shapes = [
    'm-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z',
    'm-3 -3h6v6h-6z',
    'm0 -4l3.8 6.6h-7.6z',
    'm0 -4.2l4.2 4.2l-4.2 4.2l-4.2 -4.2z',
  ]
  return `<path fill="${color}" d="M${fixed(x)} ${fixed(y)}${shapes[which % shapes.length]}"/>`
}

export function fixed(value: number): string {
  return String(Math.round(value * 10) / 10)
}

/** Returns the beginning of a text that would not fit. */
export function clipped(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`
}

/** Returns a name in one or two lines of at most so many characters, cut at a comma if there is one in reach. */
export function nameLines(name: string, most: number): string[] {
  if (name.length <= most) return [name]
  const comma = name.lastIndexOf(',', most - 1) + 1
  const end = comma > 0 ? comma : most
  return [name.slice(0, end), clipped(name.slice(end), most)]
}

/** Returns an upper estimate of the width of text of a size in a usual sans-serif font. */
export function widthOf(text: string, size: number): number {
  return 0.62 * size * text.length
}
