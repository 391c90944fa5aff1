/** One bundle per process: what production ships, and what `npm start` runs. With `bench`, the benchmark's contenders too. */
import { build } from 'esbuild'

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

await build({
  ...options,
  entryPoints: Object.fromEntries(processes.map((name) => [name, entry(name)])),
  outdir: 'dist',
})
if (process.argv[2] === 'bench') {
  // Our contenders run as the product ships: what a loader for TypeScript costs is nobody's to pay.
  await build({
    ...options,
    entryPoints: ['bench/contenders/engine.ts', 'bench/contenders/floor.ts'],
    outdir: 'dist/bench',
  })
}
