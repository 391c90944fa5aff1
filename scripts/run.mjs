/**
 * The door to every command: makes sure that dependencies and generated code are there and current, then runs the task. Plain
 * JavaScript without imports from the workspace, because on a fresh clone nothing else can run yet.
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const PNPM = 'pnpm@12.21.0'
const NODE_MIN = [20, 19]
const root = fileURLToPath(new URL('..', import.meta.url))
const bin = (name) => join(root, 'node_modules', '.bin', name)
const tsx = ['--import', 'tsx']
const jest = {
  command: process.execPath,
  args: ['--experimental-vm-modules', '--no-warnings', join(root, 'node_modules/jest/bin/jest.js')],
}

const tasks = {
  // Whoever asks for help need not wait for a build.
  start: (args) => [...(asksForHelp(args) ? [] : [build]), node(...tsx, 'apps/demo/src/main.ts', ...args)],
  scenario: (args) => [
    ...(onlyTells(args) ? [] : [node('scripts/build.mjs', 'booking')]),
    node(...tsx, 'apps/demo/src/scenario/main.ts', ...args),
  ],
  chaos: (args) => [
    ...(asksForHelp(args) ? [] : [build]),
    node(...tsx, 'apps/demo/src/chaos/main.ts', ...args),
  ],
  // It runs whole processes too, from their bundles.
  bench: (args) => [
    ...(asksForHelp(args) ? [] : [node('scripts/build.mjs', 'bench')]),
    node(...tsx, 'bench/main.ts', ...args),
  ],
  test: (args) => [{ ...jest, args: [...jest.args, ...args] }],
  'test:slow': (args) => [
    // Whole processes are what was built.
    node('scripts/build.mjs', 'booking'),
    {
      ...jest,
      args: [...jest.args, '--testPathPatterns', '\\.slow\\.test\\.ts$', ...args],
      env: { SLOW: '1' },
    },
  ],
  model: (args) => [{ ...jest, args: [...jest.args, 'apps/dispatcher/src/model'], env: modelSettings(args) }],
  check: () => [
    run('eslint', '.', '--cache', '--cache-location', 'node_modules/.cache/eslint/'),
    run('prettier', '--check', '.', '--cache', '--log-level', 'warn'),
    run('tsc', '--project', 'tsconfig.json'),
    run('depcruise', '--config', 'dependency-cruiser.cjs', 'apps', 'packages', 'examples'),
    run('knip'),
  ],
  fix: () => [run('eslint', '.', '--fix'), run('prettier', '--write', '.', '--log-level', 'warn')],
  build: () => [build],
  docs: (args) => [
    node(...tsx, 'scripts/tasks/docs.ts', ...args),
    run('prettier', '--write', 'docs', '--log-level', 'warn'),
  ],
  'db:migrate': (args) => [node(...tsx, 'scripts/tasks/migrate.ts', ...args)],
  'tenant:create': (args) => [node(...tsx, 'scripts/tasks/create-tenant.ts', ...args)],
}

/** `--runs N --seed N`, and of a failure that is to be seen again `--path P --replay R`. */
const modelSettings = (args) => {
  const env = {}
  // Whoever calls this file itself may have put npm's mark before the options.
  const given = args[0] === '--' ? args.slice(1) : args
  for (let index = 0; index < given.length; index += 2) {
    const [name, value] = [given[index], given[index + 1]]
    if (!/^--(runs|seed|path|replay)$/.test(name) || value === undefined) {
      fail('npm run model -- [--runs N] [--seed N] [--path P --replay R]')
    }
    env[`MODEL_${name.slice(2).toUpperCase()}`] = value
  }
  return env
}

const asksForHelp = (args) => args.includes('--help') || args.includes('-h')
const onlyTells = (args) => asksForHelp(args) || args.includes('--list')
const run = (name, ...args) => ({ command: bin(name), args })
const node = (...args) => ({ command: process.execPath, args })
const build = node('scripts/build.mjs')

const main = async () => {
  const [name = '', ...args] = process.argv.slice(2)
  const task = tasks[name]
  if (!task) fail(`unknown task; there are: ${Object.keys(tasks).join(', ')}`)
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major < NODE_MIN[0] || (major === NODE_MIN[0] && minor < NODE_MIN[1])) {
    fail(`Node ${NODE_MIN.join('.')} or newer is needed, and this is ${process.versions.node}`)
  }
  // Whoever wants to read what there is gets that to read, and not how it was installed.
  await prepare({ quiet: onlyTells(args) })
  for (const step of task(args)) {
    const code = await exec(step)
    if (code !== 0) process.exit(code)
  }
}

/** Installs and generates, each only when what it is made from has changed. */
const prepare = async ({ quiet }) => {
  await whenChanged('install', ['pnpm-lock.yaml', 'pnpm-workspace.yaml', 'package.json'], () => {
    process.stderr.write('Installing dependencies …\n')
    return exec({
      command: 'npx',
      args: ['-y', PNPM, 'install', '--frozen-lockfile', '--reporter', 'append-only'],
      toStderr: true,
      quiet,
    })
  })
  for (const client of prismaClients) await generate(client, quiet)
}

/** The product's own client, and the one of an application that has the outbox beside its own tables. */
const prismaClients = [
  {
    name: 'prisma',
    schema: 'prisma/schema.prisma',
    generated: 'packages/platform/src/generated/client.ts',
  },
  {
    name: 'prisma-clinic',
    schema: 'examples/clinic-booking/schema.prisma',
    generated: 'examples/clinic-booking/src/generated/client.ts',
  },
]

const generate = ({ name, schema, generated }, quiet) =>
  whenChanged(
    name,
    [schema, 'prisma.config.ts', 'pnpm-lock.yaml'],
    () =>
      exec({
        command: bin('prisma'),
        args: ['generate', '--schema', schema],
        toStderr: true,
        quiet,
        // Generating a client runs no engine, but looks for one; any executable will do.
        env: { PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, PRISMA_HIDE_UPDATE_MESSAGE: '1' },
      }),
    generated,
  )

/** Also when `made`, a file of the result, is gone. */
const whenChanged = async (what, files, make, made) => {
  const stamp = join(root, 'node_modules', `.aftercommit-${what}`)
  const hash = createHash('sha256')
  for (const file of files) hash.update(readFileSync(join(root, file)))
  const now = hash.digest('hex')
  const stands = made === undefined || existsSync(join(root, made))
  if (stands && existsSync(stamp) && readFileSync(stamp, 'utf8') === now) return
  const code = await make()
  if (code !== 0) fail(`the step “${what}” failed`)
  writeFileSync(stamp, now)
}

/**
 * Runs one step with our own signals left to it: Ctrl-C reaches the whole group, and we wait for its end. What a quiet
 * one says is kept back, and shown only if it fails.
 */
const exec = ({ command, args, env = {}, toStderr = false, quiet = false }) =>
  new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: root,
      stdio: ['inherit', ...(quiet ? ['pipe', 'pipe'] : [toStderr ? 2 : 'inherit', 'inherit'])],
      env: { ...process.env, ...env },
    })
    const said = []
    child.stdout?.on('data', (chunk) => said.push(chunk))
    child.stderr?.on('data', (chunk) => said.push(chunk))
    const forward = (signal) => child.kill(signal)
    process.on('SIGTERM', forward)
    process.on('SIGINT', () => undefined)
    child.on('error', (error) => fail(`${command}: ${error.message}`))
    // Not at its exit: what it said last may still be on its way.
    child.on('close', (code, signal) => {
      process.off('SIGTERM', forward)
      if (code !== 0) for (const chunk of said) process.stderr.write(chunk)
      resolve(signal ? 1 : (code ?? 1))
    })
  })

const fail = (message) => {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}

await main()
