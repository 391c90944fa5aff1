/** The frame of every page for people without an account: no script, nothing from elsewhere, nothing kept. */
import { createHash } from 'node:crypto'
import { html, htmlText, type Html } from '@aftercommit/scheduling/outreach'
import type { Response } from 'express'

export interface Page {
  readonly status: number
  readonly title: string
  readonly content: Html
}

// Colours are fixed to a light scheme, in which each of them was held against WCAG 2.2 AA.
const STYLE = `:root{color-scheme:light;font:18px/1.5 system-ui,sans-serif;color:#1a1a1a;background:#fff}
body{max-width:44rem;margin:0 auto;padding:1.5rem}
h1{line-height:1.25}a{color:#0b4f9c}
fieldset{margin:0 0 1rem;padding:.75rem 1rem;border:1px solid #767676;border-radius:.25rem}
legend{padding:0 .35rem;font-weight:600}
label{display:block;font-weight:600}
.row label.inline{display:inline;font-weight:400}
input[type=time],select{font:inherit;color:inherit;background:#fff;border:2px solid #595959;border-radius:.2rem;padding:.3rem;max-width:100%}
.row{display:flex;flex-wrap:wrap;gap:.5rem 1.25rem;align-items:end}
.error{margin:.25rem 0;color:#a30019;font-weight:600}
[aria-invalid=true]{border-color:#a30019;border-width:3px}
.summary{border:3px solid #a30019;padding:.5rem 1rem;margin-bottom:1.5rem}
.hint{margin:.25rem 0;color:#505050}
button{font:inherit;padding:.5rem 1rem;border:2px solid #0b4f9c;border-radius:.25rem;background:#fff;color:#0b4f9c;cursor:pointer}
button.main{background:#0b4f9c;color:#fff}
:focus-visible{outline:3px solid #0b4f9c;outline-offset:2px}
section{margin-top:2.5rem}`

const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

const HEADERS = {
  'content-security-policy': POLICY,
  // The address of the page is a secret: it is not told to anybody, kept anywhere, or found by a search.
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  'x-robots-tag': 'noindex, nofollow',
  'x-content-type-options': 'nosniff',
}

export const sendPage = (response: Response, { status, title, content }: Page): void => {
  response
    .status(status)
    .set(HEADERS)
    .type('html')
    .send(htmlText(documentOf(title, content)))
}

// The browser knows the style by its hash: it must stand here to the letter, and hold nothing that would be escaped.
// prettier-ignore
const style = html`<style>${STYLE}</style>`

const documentOf = (title: string, content: Html): Html =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex, nofollow" />
        <title>${title}</title>
        ${style}
      </head>
      <body>
        <main>${content}</main>
      </body>
    </html>`
