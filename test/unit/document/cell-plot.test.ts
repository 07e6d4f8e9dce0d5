import { describe, expect, it } from 'vitest'
import type { CellPlot } from '../../../src/document/document.js'
import { svgText } from '../../../src/document/picture.js'
import { plotPicture } from '../../../src/document/plot-picture.js'
import { elementsOf } from '../../support/well-formed-xml.js'

const plot: CellPlot = {
  ...{ kind: 'cells', name: 'who', title: 'Who <wins>', origin: 'measured', source: 'on "here"' },
  ...{ bytes: [0, 1, 8, 1024], yLabel: 'processes', rows: ['2', '4 & more'] },
  classes: [
    { name: 'a<b', color: '#0072b2', mark: 'a' },
    { name: 'b', color: '#f0e442', mark: '<' },
  ],
  cells: [0, 0, 1, -1, 1, 1, 1, 1],
}

describe('a grid of cells', () => {
  it('is a picture with a box for each run of cells of one class, and texts escaped', () => {
    const svg = svgText(plotPicture(plot))
    elementsOf(svg)
    expect(svg).toContain('MEASURED: on &quot;here&quot;')
    expect(svg).toContain('a&lt;b')
    expect(svg).not.toContain('<wins>')
    const boxes = (color: string) =>
      [...svg.matchAll(new RegExp(`fill="${color}" d="([^"]*)"`, 'g'))].map(
        ([, d]) => d.split('M').length - 1,
      )
    // The cells, then the box of the legend.
    expect(boxes('#0072b2')).toEqual([1, 1])
    expect(boxes('#f0e442')).toEqual([2, 1])
  })

  it('marks cells where the marks fit, in an ink that can be read', () => {
    const svg = svgText(plotPicture(plot))
    expect(svg.match(/fill="#ffffff">a</g)).toHaveLength(3)
    expect(svg.match(/fill="#000000">&lt;</g)).toHaveLength(6)
    const rows = Array.from({ length: 200 }, (_, i) => String(i))
    const many = svgText(plotPicture({ ...plot, rows, cells: new Int32Array(rows.length * 4) }))
    elementsOf(many)
    expect(many.match(/fill="#ffffff">a</g)).toHaveLength(1)
  })

  it('of one column or one row has boxes', () => {
    for (const bytes of [[0], [7]]) {
      const svg = svgText(plotPicture({ ...plot, bytes, rows: ['2'], cells: [0] }))
      elementsOf(svg)
      expect(svg).not.toMatch(/NaN|Infinity/)
    }
  })
})
