/** The multipart forms of dialect A, as JSON Schema for the documents; `edge/form.ts` reads them. */

const file = { type: 'string', contentMediaType: 'application/octet-stream' } as const;

/** `POST conversation` with files. */
export const ConversationForm = {
  type: 'object',
  required: ['json'],
  properties: {
    json: { type: 'string', contentMediaType: 'application/json', description: 'The request as JSON text' },
    files: { type: 'array', items: file, description: 'Media for the last message' },
    media_url: { type: 'array', items: { type: 'string', format: 'uri' } },
  },
} as const;

/** `POST files/<bucket_id>` */
export const UploadForm = {
  type: 'object',
  required: ['files'],
  properties: { files: { type: 'array', items: file } },
} as const;

/** `POST upload_cookies` */
export const CookieForm = {
  type: 'object',
  required: ['file'],
  properties: { file: { ...file, description: 'JSON of a browser extension, or a HAR recording' } },
} as const;
