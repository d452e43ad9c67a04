import assert from 'node:assert/strict';
import { request } from 'node:http';
import { EventSource } from 'eventsource';
import { picture } from '../support/pictures.ts';
import { at, type KeptWorld } from './kept-world.ts';

export const png = (width: number, height: number): Promise<Buffer> => picture('#c03020', width, height);

/** The text of a bucket. */
export async function textOf(world: KeptWorld, id: string, query = ''): Promise<string> {
  const response = await fetch(at(world, `files/${id}${query}`));
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('content-type'), 'text/plain; charset=utf-8');
  return response.text();
}

/** The JSON of the `data:` lines. */
export function dataOf(text: string): { readonly action?: string }[] {
  return text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [JSON.parse(line.slice(6))] : []));
}

/** What EventSource gets until the connection ends, which it sees as an error. */
export function listen(url: string): Promise<unknown[]> {
  return new Promise((resolve) => {
    const source = new EventSource(url);
    const messages: unknown[] = [];
    source.onmessage = (event) => messages.push(JSON.parse(event.data));
    source.onerror = () => {
      source.close();
      resolve(messages);
    };
  });
}

/** An upload whose parts are sent when the test says so. */
export function slowUpload(url: string) {
  const { hostname, port, pathname } = new URL(url);
  const headers = { 'content-type': 'multipart/form-data; boundary=x' };
  let answered: (status: number) => void = () => {};
  const status = new Promise<number>((resolve) => {
    answered = resolve;
  });
  const sent = request({ hostname, port, method: 'POST', path: pathname, headers }, (response) => {
    response.resume();
    answered(response.statusCode ?? 0);
  });
  sent.on('error', () => answered(0));
  const head = (name: string) => `--x\r\ncontent-disposition: form-data; name="files"; filename="${name}"\r\n\r\n`;
  return {
    part: (name: string, content: string) => sent.write(`${head(name)}${content}\r\n`),
    begin: (name: string) => sent.write(`${head(name)}the `),
    end(content: string) {
      sent.end(`${content}\r\n--x--\r\n`);
      return status;
    },
    abort: () => sent.destroy(),
    /** The status, be it that the upload has not ended. */
    answered: status,
  };
}
