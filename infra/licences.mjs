// `node infra/licences.mjs`: every installed package has a licence that we may use. Reads node_modules and nothing else. Exit 1 names those that do not.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Licences that ask for no more than to be named, or that bind only the file they stand in. */
const ALLOWED = new Set([
  ...['MIT', 'MIT-0', 'Apache-2.0', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD', 'BlueOak-1.0.0', 'Unlicense', 'Python-2.0'],
  ...['MPL-2.0', 'OFL-1.1', 'CC0-1.0', 'CC-BY-4.0'],
])
/** By name, with why. */
const EXCEPTIONS = new Map([
  [/^@img\/sharp-libvips-/, 'LGPL-3.0-or-later: a library of its own, linked at run time, brought by next and unchanged'],
])

/** `MIT`, `(MIT OR X)` and `A AND B` of SPDX, without `WITH`. @param {string} expression */
export function isAllowed(expression) {
  const plain = expression.replace(/^\((.*)\)$/, '$1')
  if (/[()]/.test(plain)) return false
  return plain.split(/ OR /i).some((choice) => choice.split(/ AND /i).every((licence) => ALLOWED.has(licence.trim())))
}

/** What a package.json says; '' for nothing. @param {{license?: unknown, licenses?: unknown}} manifest @returns {string} */
export function licenceOf({ license, licenses }) {
  if (typeof license === 'string') return license
  const listed = Array.isArray(licenses) ? licenses : Array.isArray(license) ? license : [license]
  return listed.flatMap((each) => (typeof each === 'string' ? [each] : typeof each?.type === 'string' ? [each.type] : [])).join(' OR ')
}

/** Folders of packages in pnpm's store of a checkout. @param {string} store @returns {string[]} */
function packageFolders(store) {
  return readdirSync(store).flatMap((entry) => {
    const modules = join(store, entry, 'node_modules')
    if (!existsSync(modules)) return []
    return readdirSync(modules, { withFileTypes: true }).flatMap((each) => {
      if (!each.isDirectory()) return []
      if (!each.name.startsWith('@')) return [join(modules, each.name)]
      const scope = join(modules, each.name)
      return readdirSync(scope, { withFileTypes: true }).flatMap((inner) => (inner.isDirectory() ? [join(scope, inner.name)] : []))
    })
  })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const store = join(dirname(fileURLToPath(import.meta.url)), '..', 'node_modules', '.pnpm')
  const manifests = packageFolders(store)
    .map((folder) => join(folder, 'package.json'))
    .filter((file) => existsSync(file))
    .map((file) => JSON.parse(readFileSync(file, 'utf8')))
  const excepted = (/** @type {string} */ name) => [...EXCEPTIONS.keys()].some((pattern) => pattern.test(name))
  const wrong = manifests.filter((manifest) => !excepted(manifest.name) && !isAllowed(licenceOf(manifest)))
  for (const manifest of wrong) console.error(`${manifest.name} ${manifest.version}: ${licenceOf(manifest) || 'no licence is told'}`)
  // A look at an empty folder says success and has seen nothing.
  if (manifests.length < 100) console.error(`only ${manifests.length} packages are installed: run pnpm install first`)
  else console.log(`licences: ${manifests.length} packages, ${wrong.length} not allowed`)
  process.exit(wrong.length > 0 || manifests.length < 100 ? 1 : 0)
}
