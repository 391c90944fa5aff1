/** The reply form as HTML: usable without script, by keyboard and by ear. */
import {
  html,
  localWindowOf,
  STATED_WINDOWS_MAX,
  type Html,
  type ReplyForm,
} from '@aftercommit/scheduling/outreach'
import {
  dateIn,
  eachDate,
  formatInstant,
  isCalendarDate,
  parseTimeZone,
  startOfDay,
  UTC,
} from '@aftercommit/time'
import type { TimeZone } from '@aftercommit/time'
import { emptyRow, rowsOf, type Fault, type FieldName, type Row, type Sent } from './fields.ts'
import type { Page } from './layout.ts'
import { asker, duration, faultWords, unclearWords } from './words.ts'
import { zoneGroups } from './zones.ts'

/** What the fields hold when the page is shown. */
export interface Filled {
  readonly zone: string
  readonly rows: readonly Row[]
}

const ROWS_DEFAULT = 6
const ROWS_MORE = 6
/** Up to so many days each has a line of its own, ready for its times. */
const DAYS_WITH_A_LINE = 10

/** The fields of somebody who opens the page: their draft, their earlier answer, or what is known of them. */
export const filledFrom = (form: ReplyForm): Filled => {
  const { draft, standing } = form
  const answered = standing?.type === 'times' ? standing : undefined
  if (draft) return { zone: draft.zone ?? form.zone ?? '', rows: withRoom(rowsOf(draft.windows)) }
  if (answered) {
    const windows = answered.free.map((stretch) => localWindowOf(stretch, answered.zone))
    return { zone: answered.zone, rows: withRoom(rowsOf(windows)) }
  }
  const dates = datesIn(form, form.zone ?? form.meetingZone)
  const rows = dates.length <= DAYS_WITH_A_LINE ? dates.map((date) => ({ ...emptyRow, date })) : []
  return { zone: form.zone ?? '', rows: rows.length > 0 ? rows : room(ROWS_DEFAULT) }
}

/** The fields as they were sent, with more lines to fill in. */
export const withMoreRows = ({ zone, rows }: Sent): Filled => ({
  zone,
  rows: [...rows, ...room(ROWS_MORE)].slice(0, STATED_WINDOWS_MAX),
})

const room = (lines: number): readonly Row[] => Array.from({ length: lines }, () => emptyRow)
const withRoom = (rows: readonly Row[]): readonly Row[] =>
  [...rows, ...room(Math.max(2, ROWS_DEFAULT - rows.length))].slice(0, STATED_WINDOWS_MAX)

const datesIn = ({ disclosed: { window } }: ReplyForm, zone: TimeZone): readonly string[] =>
  eachDate(dateIn(window.start, zone), dateIn(new Date(window.end.getTime() - 1), zone))

/** The days to choose from. The zone is chosen on the same page, so a day on either side may be theirs. */
const datesAnywhere = ({ disclosed: { window } }: ReplyForm): readonly string[] =>
  eachDate(
    dateIn(new Date(window.start.getTime() - 12 * HOUR_MS), UTC),
    dateIn(new Date(window.end.getTime() + 14 * HOUR_MS - 1), UTC),
  )
const HOUR_MS = 3_600_000

export const replyFormPage = (form: ReplyForm, filled: Filled, faults: readonly Fault[]): Page => {
  const title = `When can you meet? ${asker(form.disclosed)} asks`
  return {
    status: faults.length > 0 ? 422 : 200,
    title: faults.length > 0 ? `Error: ${title}` : title,
    content: html`${errorSummary(faults)}
      <h1>When can you meet?</h1>
      ${about(form, filled)} ${earlier(form)} ${timesForm(form, filled, faults)}
      <section aria-labelledby="cannot">
        <h2 id="cannot">I cannot take part</h2>
        <form method="post">
          <input type="hidden" name="answer" value="not_taking_part" />
          <button type="submit">I cannot take part in this meeting</button>
        </form>
      </section>
      <section aria-labelledby="never">
        <h2 id="never">Do not write to me again</h2>
        <p id="never-hint">For this meeting and every other one. You cannot take it back on this page.</p>
        <form method="post">
          <input type="hidden" name="answer" value="contact_refused" />
          <button type="submit" aria-describedby="never-hint">Never write to me again</button>
        </form>
      </section>`,
  }
}

const errorSummary = (faults: readonly Fault[]): Html | undefined =>
  faults.length === 0
    ? undefined
    : html`<div class="summary" role="alert" aria-labelledby="summary" tabindex="-1" autofocus>
        <h2 id="summary">There is something to put right</h2>
        <ul>
          ${faults.map(
            ({ field, type }) =>
              html`<li><a href="#${field}">${placeOf(field)}: ${faultWords[type]}</a></li>`,
          )}
        </ul>
      </div>`

const placeOf = (field: FieldName): string =>
  field === 'zone' ? 'Time zone' : `Time ${Number(field.slice(field.indexOf('-') + 1)) + 1}`

const about = (form: ReplyForm, filled: Filled): Html => {
  const { disclosed, answerBy } = form
  const chosen = parseTimeZone(filled.zone)
  const zone = chosen.type === 'zone' ? chosen.zone : (form.zone ?? form.meetingZone)
  const moment = (at: Date): string => formatInstant(at, zone, "EEEE d MMMM yyyy, HH:mm ('UTC'xxx)")
  return html`<p>${asker(disclosed)} would like to meet you for ${duration(disclosed)}.</p>
    <ul>
      ${disclosed.type !== 'time_only' && html`<li>About: ${disclosed.purpose}</li>`}
      ${
        disclosed.type === 'purpose_and_people' &&
        disclosed.people.length > 0 &&
        html`<li>Also asked: ${disclosed.people.join(', ')}</li>`
      }
      <li>The meeting can be from ${moment(disclosed.window.start)} to ${moment(disclosed.window.end)}.</li>
      <li>Please answer before ${moment(answerBy)}.</li>
    </ul>
    <p>Times in this list are in the time zone ${zone}.</p>`
}

const earlier = ({ draft, standing }: ReplyForm): Html | undefined => {
  if (draft) {
    return html`<p>
        You wrote to us. Below is what we understood, and it counts only once you send it: please correct it
        first where it is wrong.
      </p>
      ${
        draft.unclear.length > 0 &&
        html`<ul>
          ${draft.unclear.map((code) => html`<li>${unclearWords[code]}</li>`)}
        </ul>`
      }`
  }
  if (!standing) return undefined
  return standing.type === 'times'
    ? html`<p>You have answered already. Below are your times; you may change them until one is booked.</p>`
    : html`<p>You have said that you cannot take part. If you can after all, give your times below.</p>`
}

const timesForm = (form: ReplyForm, filled: Filled, faults: readonly Fault[]): Html => {
  const { draft } = form
  const known = [form.zone, draft?.zone, form.meetingZone].filter((zone) => zone !== undefined)
  const dates = [
    ...new Set([...datesAnywhere(form), ...filled.rows.map(({ date }) => date).filter(isCalendarDate)]),
  ]
  const options = dates.sort().map((date) => ({ date, label: dayLabel(date) }))
  return html`<form method="post" novalidate>
    <input type="hidden" name="answer" value="times" />
    ${draft && html`<input type="hidden" name="draft" value="${draft.id}" />`}
    ${zoneField(filled, known, faults)}
    <fieldset aria-describedby="times-hint">
      <legend>Times at which you can</legend>
      <p class="hint" id="times-hint">
        One line for each time. A line without times does not count. Midnight as an end is the end of that
        day.
      </p>
      ${filled.rows.map((row, index) => rowFields(row, index, { options, faults, zone: filled.zone }))}
    </fieldset>
    <button type="submit" class="main" name="do" value="send">
      ${draft ? 'Confirm these times' : 'Send these times'}
    </button>
    ${
      filled.rows.length < STATED_WINDOWS_MAX &&
      html`<button type="submit" name="do" value="more_rows">Show more lines</button>`
    }
  </form>`
}

const dayLabel = (date: string): string => formatInstant(startOfDay(date, UTC), UTC, 'EEEE d MMMM yyyy')

const zoneField = (filled: Filled, known: readonly TimeZone[], faults: readonly Fault[]): Html => {
  const fault = faults.find(({ field }) => field === 'zone')
  return html`<fieldset>
    <legend>Your time zone</legend>
    <label for="zone">Place whose clock your times are on</label>
    ${errorOf(fault)}
    <select id="zone" name="zone" autocomplete="off" ${described(fault)}>
      <option value="" ${filled.zone === '' && selected}>Choose a place</option>
      ${zoneGroups(known).map(
        ({ area, zones }) =>
          html`<optgroup label="${area}">
            ${zones.map(
              ({ zone, label }) =>
                html`<option value="${zone}" ${zone === filled.zone && selected}>${label}</option>`,
            )}
          </optgroup>`,
      )}
    </select>
  </fieldset>`
}

const selected = html`selected`
const checked = html`checked`

interface RowContext {
  readonly options: readonly { readonly date: string; readonly label: string }[]
  readonly faults: readonly Fault[]
  readonly zone: string
}

const rowFields = (row: Row, index: number, { options, faults, zone }: RowContext): Html => {
  const of = (field: FieldName): Fault | undefined => faults.find((fault) => fault.field === field)
  const [date, from, to] = [of(`date-${index}`), of(`from-${index}`), of(`to-${index}`)]
  return html`<fieldset>
    <legend>Time ${index + 1}</legend>
    ${[date, from, to].map(errorOf)}
    <div class="row">
      <div>
        <label for="date-${index}">Day</label>
        <select id="date-${index}" name="date-${index}" ${described(date)}>
          <option value="">No day</option>
          ${options.map(
            (option) =>
              html`<option value="${option.date}" ${option.date === row.date && selected}>
                ${option.label}
              </option>`,
          )}
        </select>
      </div>
      <div>
        <label for="from-${index}">From</label>
        <input type="time" id="from-${index}" name="from-${index}" value="${row.from}" ${described(from)} />
      </div>
      <div>
        <label for="to-${index}">To</label>
        <input type="time" id="to-${index}" name="to-${index}" value="${row.to}" ${described(to)} />
      </div>
      <div>
        <input type="checkbox" id="any-${index}" name="any-${index}" ${row.anyTime && checked} />
        <label class="inline" for="any-${index}">Any time that day</label>
      </div>
    </div>
    ${foldField({ name: `fromFold-${index}`, chosen: row.fromFold, fault: of(`fromFold-${index}`), zone })}
    ${foldField({ name: `toFold-${index}`, chosen: row.toFold, fault: of(`toFold-${index}`), zone })}
  </fieldset>`
}

/** Asked only where a clock shows a time twice. An answer given before is kept, unseen, until it is asked anew. */
const foldField = (field: {
  name: FieldName
  chosen: string
  fault: Fault | undefined
  zone: string
}): Html | undefined => {
  const { name, chosen, fault } = field
  const zone = parseTimeZone(field.zone)
  if (!fault?.fold || zone.type === 'malformed') {
    return chosen === '' ? undefined : html`<input type="hidden" name="${name}" value="${chosen}" />`
  }
  const time = (at: Date): string => formatInstant(at, zone.zone, "HH:mm ('UTC'xxx)")
  return html`${errorOf(fault)}
    <label for="${name}">Which of the two</label>
    <select id="${name}" name="${name}" ${described(fault)}>
      <option value="">Choose one</option>
      <option value="earlier">The first: ${time(fault.fold.earlier)}</option>
      <option value="later">The second: ${time(fault.fold.later)}</option>
    </select>`
}

const errorOf = (fault: Fault | undefined): Html | undefined =>
  fault && html`<p class="error" id="${fault.field}-error">Error: ${faultWords[fault.type]}</p>`

const described = (fault: Fault | undefined): Html | undefined =>
  fault && html`aria-invalid="true" aria-describedby="${fault.field}-error"`
