import { z } from 'zod';
import { SluiceError } from '../../core/errors.ts';
import { answeringOf, EventTranslator } from './answering.ts';
import type { Connection } from './connection.ts';
import { toGenerateBody } from './google-body.ts';
import { ContentEvents } from './google-events.ts';
import type { NativeApi } from './native.ts';

/**
 * Google's API for Google's clients. The vendor's library knows a part of it only: candidates' metadata, code that was run,
 * schemas in Google's dialect and settings that it has not heard of would be lost.
 */
export const contentApi: NativeApi = {
  format: 'gemini',

  async open(request, connection, { speaker, signal, eventBytes }) {
    const response = await connection.fetch(address(connection, request.model, 'streamGenerateContent?alt=sse'), {
      method: 'POST',
      headers: headersOf(connection, 'text/event-stream'),
      body: JSON.stringify(toGenerateBody(request)),
      signal,
    });
    if (response.body === null) {
      throw new SluiceError('upstream_cut', `${speaker.label} ended its answer before it began.`);
    }
    return {
      answering: answeringOf(response.body, new EventTranslator(new ContentEvents(speaker), eventBytes)),
      headers: Object.fromEntries(response.headers),
    };
  },

  async countTokens(request, connection, { signal }) {
    const model = pathOf(request.model);
    const response = await connection.fetch(address(connection, request.model, 'countTokens'), {
      method: 'POST',
      headers: headersOf(connection, 'application/json'),
      body: JSON.stringify({ generateContentRequest: { model, ...toGenerateBody(request) } }),
      signal,
    });
    return Count.parse(await response.json()).totalTokens;
  },
};

const Count = z.object({ totalTokens: z.number() });

function address({ baseUrl }: Connection, model: string, method: string): string {
  return `${baseUrl}/${pathOf(model)}:${method}`;
}

function pathOf(model: string): string {
  return model.includes('/') ? model : `models/${model}`;
}

function headersOf({ apiKey, headers }: Connection, accept: string): Headers {
  const all = new Headers({ 'content-type': 'application/json', ...headers, accept });
  if (apiKey !== '') all.set('x-goog-api-key', apiKey);
  return all;
}
