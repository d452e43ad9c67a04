/** What Vite adds to modules. */
interface ImportMeta {
  readonly env: { readonly PROD: boolean };
}

declare module '*.css';
