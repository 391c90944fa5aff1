import { readFile } from 'node:fs/promises'
import { expect, test } from '@jest/globals'
import { format } from 'prettier'
import { generatedDocs } from './generated-docs.ts'

test.each(generatedDocs)('docs/$file says what the code does', async ({ file, make }) => {
  const page = await readFile(new URL(`../../docs/${file}`, import.meta.url), 'utf8')
  const options = { parser: 'markdown', printWidth: 110, proseWrap: 'always' } as const
  expect(await format(make(page), options)).toBe(page)
})
