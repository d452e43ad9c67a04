// Options of the build, and of `npm --workspace web run dev`, which takes the API from a Sluice that runs already.
import { defineConfig } from 'vite';

const sluice = process.env.SLUICE_ORIGIN ?? 'http://127.0.0.1:1337';
const api = ['/backend-api', '/v1', '/files', '/media', '/images', '/thumbnail', '/openapi.json'];

/** Browsers meant here all know woff2: the other forms of KaTeX's fonts would be shipped for nobody. */
const onlyWoff2 = {
  name: 'only-woff2',
  enforce: 'pre',
  transform: {
    filter: { id: /katex[^/\\]*\.css$/ },
    handler: (css) => css.replaceAll(/,\s*url\([^)]*\)\s*format\("(?:woff|truetype)"\)/g, ''),
  },
};

export default defineConfig({
  plugins: [onlyWoff2],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    target: 'es2023',
    manifest: true,
    // Its inline script would need an exception from the Content-Security-Policy; all browsers meant here know modulepreload.
    modulePreload: { polyfill: false },
    // As data: URIs fonts would need an exception too.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1_000,
    reportCompressedSize: false,
    // What is needed at once is one file: dozens of small ones, as screens share them, would be asked for one by one.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: 'page', test: /src[\\/]main\.tsx$/ }] } } },
  },
  server: { proxy: Object.fromEntries(api.map((path) => [path, { target: sluice, changeOrigin: true }])) },
});
