/**
 * Node's `http` module. An `import` of it reads all its exports, and one of them makes Node load its own undici, which takes
 * 16 MB of memory; this way they stay unread. Types may be imported as usual.
 */
export const { createServer, get, IncomingMessage, request, STATUS_CODES, validateHeaderName, validateHeaderValue } =
  process.getBuiltinModule('node:http');
