import { scenarioTable } from '@aftercommit/demo/scenarios'
import { guaranteeTable } from '@aftercommit/outbox'
import { repairKinds } from '@aftercommit/scheduling'
import { schedulingActions } from '@aftercommit/scheduling/handlers'

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

/** The pages of docs/ with a part that is made from code, and how it is made. */
export const generatedDocs: readonly { readonly file: string; readonly make: (page: string) => string }[] = [
  {
    file: 'guarantees.md',
    make: (page) => between(page, guaranteeTable(Object.values(schedulingActions))),
  },
  { file: 'scenarios.md', make: (page) => between(page, scenarioTable()) },
  { file: 'repairs.md', make: (page) => between(page, repairTable()) },
]
