/** Our contenders as one file each, as the product ships: what a loader for TypeScript costs is nobody's to pay. */
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const OUT = fileURLToPath(new URL('../dist/bench', import.meta.url))
const made = new Map<string, Promise<string>>()

/** Builds once per run. Answers the path of the script. */
export const bundleOf = (contender: 'engine' | 'floor'): Promise<string> => {
  const known = made.get(contender) ?? bundle(contender)
  made.set(contender, known)
  return known
}

const bundle = async (contender: string): Promise<string> => {
  await build({
    entryPoints: [fileURLToPath(new URL(`./contenders/${contender}.ts`, import.meta.url))],
    outdir: OUT,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    logLevel: 'warning',
    // Bundled CommonJS packages still call `require` for Node's own modules.
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
    external: ['pg-native'],
  })
  return `${OUT}/${contender}.js`
}
