/**
 * One bundle per process: what production ships, and what `npm start` runs. What is no process of the product is built when
 * it is named: `booking`, `bench`.
 */
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { build as esbuild } from 'esbuild'

const processes = ['api', 'dispatcher', 'simulator', 'migrate']
const entry = (name) => (name === 'migrate' ? 'scripts/tasks/migrate.ts' : `apps/${name}/src/main.ts`)

const options = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  sourcemap: true,
  logLevel: 'warning',
  // Bundled CommonJS packages still call `require` for Node's own modules.
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  },
  external: ['pg-native'],
}

/** Puts each file in its place whole, because a process may be starting from the one before. */
const build = async (wanted) => {
  const { outputFiles } = await esbuild({ ...wanted, write: false })
  for (const { path, contents } of outputFiles) {
    const part = `${path}.${process.pid}`
    await mkdir(dirname(path), { recursive: true })
    await writeFile(part, contents)
    await rename(part, path)
  }
}

await build({
  ...options,
  entryPoints: Object.fromEntries(processes.map((name) => [name, entry(name)])),
  outdir: 'dist',
})
const also = new Set(process.argv.slice(2))
if (also.has('booking')) {
  // The application that `npm run scenario -- commit-gap` kills. It is started a hundred times, and loads only what it
  // needs. Its parts are named by their content, so those of an older build would stay.
  await rm('dist/booking', { recursive: true, force: true })
  await build({
    ...options,
    entryPoints: ['apps/demo/src/commit-gap/booking/main.ts'],
    outdir: 'dist/booking',
    splitting: true,
  })
}
if (also.has('bench')) {
  // Our contenders run as the product ships: what a loader for TypeScript costs is nobody's to pay.
  await build({
    ...options,
    entryPoints: ['bench/contenders/engine.ts', 'bench/contenders/floor.ts'],
    outdir: 'dist/bench',
  })
}
