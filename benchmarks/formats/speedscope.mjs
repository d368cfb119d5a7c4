// Reads profiles with speedscope's own importers and writes, for each, the totals of its functions as JSON.
//
// Usage: node speedscope.mjs CHECKOUT FILE...
// CHECKOUT is a clone of https://github.com/jlfwong/speedscope in which `npm install` was run.
import { createRequire } from 'node:module'
import { readFileSync, mkdtempSync, rmSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { tmpdir } from 'node:os'

const [checkout, ...files] = process.argv.slice(2)
const esbuild = createRequire(join(resolve(checkout), 'package.json'))('esbuild')

async function importers() {
  const folder = mkdtempSync(join(tmpdir(), 'profkit-speedscope-'))
  try {
    const outfile = join(folder, 'import.mjs')
    await esbuild.build({
      entryPoints: [join(resolve(checkout), 'src/import/index.ts')],
      bundle: true,
      format: 'esm',
      platform: 'node',
      outfile,
      logLevel: 'error',
      loader: { '.wasm': 'empty' }, // of its reader of Java's recordings
      banner: { js: `import {createRequire} from 'node:module'; const require = createRequire(import.meta.url)` },
    })
    return await import(outfile)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function summary(profile) {
  const functions = []
  profile.forEachFrame((frame) =>
    functions.push([frame.name, frame.file ?? '', frame.getSelfWeight(), frame.getTotalWeight()]))
  const total = profile.getTotalNonIdleWeight?.() ?? profile.getTotalWeight()
  return { name: profile.getName(), unit: profile.getWeightUnit(), total, functions }
}

const { importProfilesFromArrayBuffer } = await importers()
console.log = console.warn = console.error = () => {}
for (const file of files) {
  let line
  try {
    const data = readFileSync(file)
    const buffer = data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength)
    const group = await importProfilesFromArrayBuffer(basename(file), buffer)
    line = group === null ? { error: 'the format is not known' } : { profiles: group.profiles.map(summary) }
  } catch (error) {
    line = { error: String(error?.message ?? error) }
  }
  process.stdout.write(`${JSON.stringify({ file, ...line })}\n`)
}
