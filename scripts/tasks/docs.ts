/** Writes the parts of docs/ that are made from code. A test holds them against the code. */
import { readFile, writeFile } from 'node:fs/promises'
import { generatedDocs } from './generated-docs.ts'

for (const { file, make } of generatedDocs) {
  const url = new URL(`../../docs/${file}`, import.meta.url)
  await writeFile(url, make(await readFile(url, 'utf8')))
}
