/** One bundle per process: what production ships, and what `npm start` runs. */
import { build } from 'esbuild'

const processes = ['api', 'dispatcher', 'simulator', 'migrate']
const entry = (name) => (name === 'migrate' ? 'scripts/tasks/migrate.ts' : `apps/${name}/src/main.ts`)

await build({
  entryPoints: Object.fromEntries(processes.map((name) => [name, entry(name)])),
  outdir: 'dist',
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
})
