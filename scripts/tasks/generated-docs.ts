import { scenarioTable } from '@aftercommit/demo/scenarios'
import { guaranteeTable } from '@aftercommit/outbox'
import { absenceCodes, absenceMeanings, repairKinds, resolutionByCode } from '@aftercommit/scheduling'
import { schedulingActions } from '@aftercommit/scheduling/handlers'
import type { z } from 'zod'

const BEGIN = '<!-- generated: npm run docs -->'
const END = '<!-- end of generated -->'

/** Replaces what stands between the marks. Throws when a page has lost them. */
const between = (page: string, generated: string): string => {
  const begin = page.indexOf(BEGIN)
  const end = page.indexOf(END)
  if (begin < 0 || end < begin) throw new Error('a page has lost the marks of its generated part')
  return `${page.slice(0, begin + BEGIN.length)}\n\n${generated}\n\n${page.slice(end)}`
}

const repairTable = (): string =>
  [
    '| code | what it means | can be mended by, besides `cancel_meeting` |',
    '| --- | --- | --- |',
    ...Object.entries(repairKinds).map(
      ([code, { means, choices }]) =>
        `| \`${code}\` | ${means} | ${choices.map((choice) => `\`${choice}\``).join(', ') || 'none'} |`,
    ),
  ].join('\n')

/** Where nothing is required by itself, one of the fields is. */
const fieldsText = (code: (typeof absenceCodes)[number]): string => {
  const fields = Object.entries<z.ZodType>(resolutionByCode[code].shape).map(([name, schema]) => ({
    name: `\`${name}\``,
    isNeeded: !schema.safeParse(undefined).success,
  }))
  const names = (isNeeded: boolean) =>
    fields.filter((each) => each.isNeeded === isNeeded).map(({ name }) => name)
  const [needed, optional] = [names(true), names(false)]
  if (needed.length === 0) return optional.join(' or ')
  return `${needed.join(' and ')}${optional.length > 0 ? `; ${optional.join(', ')} if there is one` : ''}`
}

const exceptionTable = (): string =>
  [
    '| code | what was not told | what answers it |',
    '| --- | --- | --- |',
    ...absenceCodes.map((code) => `| \`${code}\` | ${absenceMeanings[code]} | ${fieldsText(code)} |`),
  ].join('\n')

/** The pages of docs/ with a part that is made from code, and how it is made. */
export const generatedDocs: readonly { readonly file: string; readonly make: (page: string) => string }[] = [
  {
    file: 'guarantees.md',
    make: (page) => between(page, guaranteeTable(Object.values(schedulingActions))),
  },
  { file: 'scenarios.md', make: (page) => between(page, scenarioTable()) },
  { file: 'exceptions.md', make: (page) => between(page, exceptionTable()) },
  { file: 'repairs.md', make: (page) => between(page, repairTable()) },
]
