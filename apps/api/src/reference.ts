/** The reference page and the explanations of problems: plain HTML, without scripts and without anybody's network. */
import { createHash } from 'node:crypto'
import { Router, type Response } from 'express'
import { ProblemError } from './problem.ts'
import { problemNames, problems, type ProblemName } from './problems.ts'
import { factsOf } from './request.ts'
import { curlOf } from './examples.ts'
import { fieldRows, rulesOf, typeOf, type FieldRow } from './fields.ts'
import { isJson, type Json } from './json.ts'
import type { OpenApi, Operation } from './openapi.ts'

/** What is published; made anew each day, because its examples are for the day on which they are read. */
interface Published {
  readonly day: string
  readonly json: string
  readonly page: string
}

export const referenceRoutes = (documentOn: (now: Date) => OpenApi): Router => {
  let published: Published | undefined
  const current = (): Published => {
    const now = new Date()
    const day = now.toISOString().slice(0, 10)
    if (published?.day === day) return published
    const document = documentOn(now)
    published = { day, json: JSON.stringify(document), page: referencePage(document) }
    return published
  }
  const router = Router()
  router.get('/openapi.json', (_request, response) => {
    factsOf(response).route = '/openapi.json'
    response.type('application/json').send(current().json)
  })
  router.get('/docs', (_request, response) => {
    factsOf(response).route = '/docs'
    sendPage(response, current().page)
  })
  router.get('/problems/:name', (request, response) => {
    factsOf(response).route = '/problems/{name}'
    const name = problemNames.find((known) => known === request.params.name)
    if (!name) throw new ProblemError('no-such-address')
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
      ([name, schema]) =>
        `<h3 id="schema-${name}">${name}</h3><p>${prose(schema.description)}</p>${fieldTable(schema)}${code(schema)}`,
    )
    .join('')
  return page(
    'Aftercommit API',
    `<h1>Aftercommit API</h1><p>${prose(document.info.description)}</p>
     <p>The same as data: <a href="/openapi.json">/openapi.json</a> (OpenAPI ${document.openapi}).</p>
     <p>The commands below are for a shell in which <code>API</code> is this server's address and <code>KEY</code> your API key;
     an id in a path is a variable too: <code>MEETING</code> is the <code>id</code> of a meeting.</p>
     <ul>${contents}</ul>
     <h2>Operations</h2>${operations.map((each) => operationSection(document, each)).join('')}
     <h2>Webhooks</h2>${Object.values(document.webhooks)
       .map(({ post }) => webhookSection(document, post))
       .join('')}
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
    ${bodySection(document, operation)}
    <pre>${escaped(curlOf(method, `${path}${queryIn(document, operation)}`, exampleIn(operation)))}</pre>
    ${answerExample(operation)}
    <details><summary>Parameters</summary><table>${PARAMETER_HEAD}${parameters}</table></details>
    <details><summary>Answers</summary><table>${responses}</table></details></section>`
}

const answerExample = ({ responses }: Operation): string => {
  const example = mediaIn(responses[200] ?? responses[201])?.example
  return example === undefined
    ? ''
    : `<details><summary>An answer</summary><pre>${escaped(JSON.stringify(example, undefined, 2))}</pre></details>`
}

/** What is sent to you: its headers, its body, and what your answer means. */
const webhookSection = (document: OpenApi, post: Json): string => {
  const parameters = Array.isArray(post.parameters) ? post.parameters.filter(isJson) : []
  const responses = isJson(post.responses) ? Object.entries(post.responses) : []
  const meanings = responses
    .map(
      ([status, response]) =>
        `<tr><td><code>${status}</code></td><td>${prose(isJson(response) ? response.description : '')}</td></tr>`,
    )
    .join('')
  const requestBody = isJson(post.requestBody) ? post.requestBody : {}
  return `<section id="${String(post.operationId)}"><p>${prose(post.summary)} ${prose(post.description)}</p>
    ${bodySection(document, { requestBody })}
    <table>${PARAMETER_HEAD}${parameters.map(parameterRow).join('')}</table>
    <h3>What your answer means</h3><table>${meanings}</table></section>`
}

const bodySection = (document: OpenApi, { requestBody }: Pick<Operation, 'requestBody'>): string => {
  if (!requestBody) return ''
  const name = schemaNameOf(requestBody)
  const schema = name === undefined ? undefined : document.components.schemas[name]
  return `<p>Body: ${schemaLink(requestBody)}</p>${schema ? fieldTable(schema) : ''}`
}

/** What must be asked with, by its examples. */
const queryIn = (document: OpenApi, operation: Operation): string => {
  const needed = operation.parameters
    .map((each) => resolved(document, each))
    .filter((each) => each.in === 'query' && each.required === true)
    .map(({ name, example }) => `${String(name)}=${encodeURIComponent(String(example))}`)
  return needed.length === 0 ? '' : `?${needed.join('&')}`
}

const exampleIn = ({ requestBody }: Operation): unknown => mediaIn(requestBody)?.example

const FIELD_HEAD = '<tr><th>Field</th><th>Type</th><th>Required</th><th>Rules</th><th>Description</th></tr>'

const fieldTable = (schema: Json): string => {
  const rows = fieldRows(schema).map(fieldRow).join('')
  return rows === '' ? '' : `<table>${FIELD_HEAD}${rows}</table>`
}

const fieldRow = ({ path, type, required, rules, description }: FieldRow): string =>
  `<tr><td><code>${escaped(path)}</code></td><td>${typeCell(type)}</td><td>${required ? 'yes' : ''}</td>
   <td>${prose(rules.join(' '))}</td><td>${prose(description)}</td></tr>`

const typeCell = (type: string): string =>
  escaped(type).replaceAll(/\{(\w+)\}/g, '<a href="#schema-$1">$1</a>')

const PARAMETER_HEAD = '<tr><th>Name</th><th>Place</th><th>Type</th><th>Rules</th><th>Description</th></tr>'

const parameterRow = ({ name, in: place, required, description, example, schema }: Json): string => {
  const shown = { ...(isJson(schema) && schema), ...(example !== undefined && { examples: [example] }) }
  return `<tr><td><code>${prose(name)}</code></td><td>${prose(place)}${required === true ? ', required' : ''}</td>
   <td>${typeCell(typeOf(shown))}</td><td>${prose(rulesOf(shown).join(' '))}</td><td>${prose(description)}</td></tr>`
}

/** Parameters are the document's only references that the page follows. */
const resolved = (document: OpenApi, parameter: Json): Json => {
  const { $ref } = parameter
  if (typeof $ref !== 'string') return parameter
  const found: unknown = document.components.parameters[$ref.slice($ref.lastIndexOf('/') + 1)]
  return isJson(found) ? found : parameter
}

const mediaIn = (part: Json | undefined): Json | undefined => {
  const [media] = isJson(part?.content) ? Object.values(part.content) : []
  return isJson(media) ? media : undefined
}

const schemaNameOf = (part: Json): string | undefined => {
  const schema = mediaIn(part)?.schema
  const reference = isJson(schema) && typeof schema.$ref === 'string' ? schema.$ref : undefined
  return reference?.slice(reference.lastIndexOf('/') + 1)
}

const schemaLink = (part: Json): string => {
  const name = schemaNameOf(part)
  return name === undefined ? '' : `<a href="#schema-${name}">${name}</a>`
}

const code = (value: unknown): string =>
  `<details><summary>JSON Schema</summary><pre>${escaped(JSON.stringify(value, undefined, 2))}</pre></details>`

const problemSection = (name: ProblemName): string => {
  const { status, title, advice } = problems[name]
  return `<section id="problem-${name}"><h3><code>/problems/${name}</code> (${status})</h3><p>${prose(title)}</p><p>${prose(advice)}</p></section>`
}
