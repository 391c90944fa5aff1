/** The reference page and the explanations of problems: plain HTML, without scripts and without anybody's network. */
import { createHash } from 'node:crypto'
import { Router, type Response } from 'express'
import { ProblemError } from './problem.ts'
import { problemNames, problems, type ProblemName } from './problems.ts'
import { factsOf } from './request.ts'
import type { Json, OpenApi, Operation } from './openapi.ts'

export const referenceRoutes = (document: OpenApi): Router => {
  const json = JSON.stringify(document)
  const reference = referencePage(document)
  const router = Router()
  router.get('/openapi.json', (_request, response) => {
    factsOf(response).route = '/openapi.json'
    response.type('application/json').send(json)
  })
  router.get('/docs', (_request, response) => {
    factsOf(response).route = '/docs'
    sendPage(response, reference)
  })
  router.get('/problems/:name', (request, response) => {
    factsOf(response).route = '/problems/{name}'
    const name = problemNames.find((known) => known === request.params.name)
    if (!name) throw new ProblemError('not-found')
    sendPage(response, page(problems[name].title, problemSection(name)))
  })
  return router
}

const STYLE = `:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}body{max-width:56rem;margin:2rem auto;padding:0 1rem}
h2{margin-top:2.5rem}h3{margin-bottom:.25rem}code,pre{font-family:ui-monospace,monospace;font-size:.9em}
pre{overflow:auto;padding:.75rem;border:1px solid #8886;border-radius:.4rem}table{border-collapse:collapse;width:100%}
td,th{border-bottom:1px solid #8884;padding:.3rem .6rem .3rem 0;text-align:left;vertical-align:top}
.method{text-transform:uppercase;font-weight:600}`

const POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

const sendPage = (response: Response, html: string): void => {
  response.set('content-security-policy', POLICY).type('html').send(html)
}

const page = (title: string, content: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
  `<title>${escaped(title)}</title><style>${STYLE}</style></head><body>${content}</body></html>`

const escaped = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')

/** Prose of the document: code between backticks, a paragraph per blank line. */
const prose = (text: unknown): string =>
  typeof text === 'string'
    ? escaped(text)
        .replaceAll(/`([^`]+)`/g, '<code>$1</code>')
        .replaceAll('\n\n', '<br>')
    : ''

const referencePage = (document: OpenApi): string => {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )
  const contents = operations
    .map(
      ({ path, method, operation: { operationId, summary } }) =>
        `<li><a href="#${operationId}"><span class="method">${method}</span> <code>${escaped(path)}</code></a> ${prose(summary)}</li>`,
    )
    .join('')
  const schemas = Object.entries(document.components.schemas)
    .map(
      ([name, schema]) => `<h3 id="schema-${name}">${name}</h3>${prose(schema.description)}${code(schema)}`,
    )
    .join('')
  return page(
    'Aftercommit API',
    `<h1>Aftercommit API</h1><p>${prose(document.info.description)}</p>
     <p>The same as data: <a href="/openapi.json">/openapi.json</a> (OpenAPI ${document.openapi}).</p>
     <ul>${contents}</ul>
     <h2>Operations</h2>${operations.map((each) => operationSection(document, each)).join('')}
     <h2>Schemas</h2>${schemas}
     <h2>Problems</h2><p>Every refusal is <code>application/problem+json</code> (RFC 9457). Its <code>type</code> is one of these.</p>
     ${problemNames.map(problemSection).join('')}`,
  )
}

const operationSection = (
  document: OpenApi,
  { path, method, operation }: { path: string; method: string; operation: Operation },
): string => {
  const parameters = operation.parameters.map((each) => parameterRow(resolved(document, each))).join('')
  const responses = Object.entries(operation.responses)
    .map(
      ([status, response]) =>
        `<tr><td><code>${status}</code></td><td>${prose(response.description)}</td><td>${schemaLink(response)}</td></tr>`,
    )
    .join('')
  return `<section id="${operation.operationId}">
    <h3><span class="method">${method}</span> <code>${escaped(path)}</code></h3>
    <p>${prose(operation.summary)} ${prose(operation.description)}</p>
    ${operation.requestBody ? `<p>Body: ${schemaLink(operation.requestBody)}</p>` : ''}
    <details><summary>Parameters</summary><table>${parameters}</table></details>
    <details><summary>Answers</summary><table>${responses}</table></details></section>`
}

const parameterRow = ({ name, in: place, required, description, schema }: Json): string =>
  `<tr><td><code>${prose(name)}</code></td><td>${prose(place)}${required === true ? ', required' : ''}</td>
   <td>${prose(description)} <code>${escaped(JSON.stringify(schema))}</code></td></tr>`

/** Parameters are the document's only references that the page follows. */
const resolved = (document: OpenApi, parameter: Json): Json => {
  const { $ref } = parameter
  if (typeof $ref !== 'string') return parameter
  const found: unknown = document.components.parameters[$ref.slice($ref.lastIndexOf('/') + 1)]
  return isJson(found) ? found : parameter
}

const schemaLink = ({ content }: Json): string => {
  const [media] = isJson(content) ? Object.values(content) : []
  const schema = isJson(media) ? media.schema : undefined
  const reference = isJson(schema) && typeof schema.$ref === 'string' ? schema.$ref : undefined
  if (reference === undefined) return ''
  const name = escaped(reference.slice(reference.lastIndexOf('/') + 1))
  return `<a href="#schema-${name}">${name}</a>`
}

const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const code = (value: unknown): string =>
  `<details><summary>JSON Schema</summary><pre>${escaped(JSON.stringify(value, undefined, 2))}</pre></details>`

const problemSection = (name: ProblemName): string => {
  const { status, title, advice } = problems[name]
  return `<section id="problem-${name}"><h3><code>/problems/${name}</code> (${status})</h3><p>${prose(title)}</p><p>${prose(advice)}</p></section>`
}
