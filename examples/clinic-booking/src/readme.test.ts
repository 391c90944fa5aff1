import { readFile } from 'node:fs/promises'
import { expect, test } from '@jest/globals'

const read = (file: string): Promise<string> => readFile(new URL(`../${file}`, import.meta.url), 'utf8')

/** Every piece of code, and the file that was named last before it. */
const quotes = [...(await read('README.md')).matchAll(/From\s+`([^`]+)`:\s+```(?:ts|sql)\n(.*?)```/gs)].map(
  ([, file = '', code = '']) => ({ file, code }),
)

/** A quotation may stand less deep than what it is taken from. */
const withoutIndent = (text: string): string => text.replace(/^\s+/gm, '').trim()

test.each(quotes)('what the README quotes from $file stands there', async ({ file, code }) => {
  expect(withoutIndent(await read(file))).toContain(withoutIndent(code))
})

test('every piece of code in the README says where it is from', async () => {
  expect((await read('README.md')).match(/^\s*```(ts|sql)$/gm)).toHaveLength(quotes.length)
})
