import { escapeXml } from '../text/printable.js'
import { cellText, type Document, marks, type Section, type Table } from './document.js'
import { svgOf } from './picture.js'
import { plotPicture } from './plot-picture.js'

const style = `
:root { color-scheme: light dark }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem; background: #fff; color: #1f2933 }
h2 { margin-top: 2.5rem; border-bottom: 1px solid #9aa5b1 }
h1, p, figcaption { overflow-wrap: anywhere }
figure { margin: 1.5rem 0 }
.wide { overflow-x: auto }
figcaption { margin-bottom: .4rem }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { padding: .25rem .7rem; text-align: left; border-bottom: 1px solid #9aa5b166 }
.number { text-align: right }
.printed { font-style: italic }
.mark { display: inline-block; padding: 0 .5rem; border-radius: .3rem; font-weight: bold; color: #fff }
.simulated { background: #1c5fc4 }
.measured { background: #26733a }
.counted { background: #5f6b7a }
.derived { background: #7a4bb5 }
svg { display: block; width: 100%; min-width: 44rem; max-width: 62rem; height: auto }
@media (prefers-color-scheme: dark) { body { background: #14181d; color: #e4e7eb } }
`

/** Writes a document as one HTML page that refers to nothing outside itself and runs no script. */
export function* htmlOf({ title, text, sections }: Document): Generator<string> {
  yield '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8"/>\n'
  yield '<meta name="viewport" content="width=device-width, initial-scale=1"/>\n'
  yield `<title>${escapeXml(title)}</title>\n<style>${style}</style>\n</head>\n<body>\n<h1>${escapeXml(title)}</h1>\n`
  yield* paragraphs(text)
  for (const section of sections) yield* sectionOf(section)
  yield '</body>\n</html>\n'
}

function* sectionOf({ title, text, parts }: Section): Generator<string> {
  yield `<section>\n<h2>${escapeXml(title)}</h2>\n`
  yield* paragraphs(text)
  for (const part of parts) {
    yield '<figure>\n'
    if (part.kind === 'table') yield tableOf(part)
    else {
      yield '<div class="wide">\n'
      yield* svgOf(plotPicture(part))
      yield '</div>\n'
    }
    yield '</figure>\n'
  }
  yield '</section>\n'
}

function* paragraphs(text: readonly string[]): Generator<string> {
  for (const paragraph of text) yield `<p>${escapeXml(paragraph)}</p>\n`
}

function tableOf({ title, origin, source, columns, rows }: Table): string {
  const label = `<figcaption><strong>${escapeXml(title)}</strong> <span class="mark ${origin}">${marks[origin]}</span> ${escapeXml(source)}</figcaption>`
  const heads = columns.map(({ title: head, isPrinted }, c) => {
    const isNumber = rows.length > 0 && rows.every((row) => typeof row[c] !== 'string')
    return `<th scope="col"${classes(isNumber, isPrinted)}>${escapeXml(head)}${isPrinted === true ? ' (printed)' : ''}</th>`
  })
  const lines = rows.map((row) => {
    const cells = row.map((cell, c) => {
      return `<td${classes(typeof cell === 'number', columns[c].isPrinted)}>${breakable(cellText(cell))}</td>`
    })
    return `<tr>${cells.join('')}</tr>`
  })
  return `${label}\n<div class="wide"><table>\n<thead><tr>${heads.join('')}</tr></thead>\n<tbody>\n${lines.join('\n')}\n</tbody>\n</table></div>\n`
}

function classes(isNumber: boolean, isPrinted: true | undefined): string {
  const names = [...(isNumber ? ['number'] : []), ...(isPrinted === true ? ['printed'] : [])]
  return names.length === 0 ? '' : ` class="${names.join(' ')}"`
}

/** Lets long names of strategies break after commas and colons, so that tables are no wider than they need to be. */
function breakable(text: string): string {
  return escapeXml(text).replace(/[,:](?=\S)/g, (mark) => (text.length > longName ? `${mark}<wbr/>` : mark))
}

const longName = 44
