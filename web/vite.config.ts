import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'
import { pageTexts } from './page-texts.mjs'

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** Five pages, the script of the documents, and the service worker, which caches two pages for use without a connection; `build.mjs` finishes what comes out of it. */
export default defineConfig({
  root: at('.'),
  appType: 'mpa',
  plugins: [pageTexts()],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    target: 'es2022',
    outDir: at('dist'),
    // Not `assets`: that is what parcels and estates are called in the interface, at /assets/:id.
    assetsDir: 'pages',
    emptyOutDir: true,
    // Inlined pictures and helper scripts would need holes in the Content-Security-Policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: {
        map: at('index.html'),
        organise: at('organise.html'),
        tokens: at('tokens.html'),
        approve: at('approve.html'),
        operate: at('operate.html'),
        'not-found': at('not-found.html'),
        help: at('src/help/help-page.ts'),
        'service-worker': at('src/worker/service-worker.ts'),
      },
      output: {
        // A worker keeps its name, or browsers would not find its next version.
        entryFileNames: ({ name }) => (name === 'service-worker' ? '[name].js' : 'pages/[name]-[hash].js'),
      },
    },
  },
})
