import type { Report } from '../../src/report/report-html.js'
import { showReport } from './report-page.js'
import { showService } from './service-page.js'
import './style.css'

const page = document.getElementById('page')!
const report = JSON.parse(document.getElementById('report-data')!.textContent ?? 'null') as Report | null
if (report !== null) showReport(page, report)
else showService(page)
