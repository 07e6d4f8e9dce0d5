import type { Report } from '../../src/report/report-html.js'
import { h } from './dom.js'
import { showReport } from './report-page.js'
import './style.css'

const page = document.getElementById('page')!
const report = JSON.parse(document.getElementById('report-data')!.textContent ?? 'null') as Report | null
if (report !== null) showReport(page, report)
else page.replaceChildren(h('p', {}, 'Rankweave'))
