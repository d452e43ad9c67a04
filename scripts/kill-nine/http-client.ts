import { randomInt } from 'node:crypto';
import type { RunningGateway } from './running-gateway.ts';
import type { Content } from './subject.ts';

/** What can be asked of a gateway, without its process. */
export type Asking = Omit<RunningGateway, 'readyMs' | 'kill'>;

/** Longer than any answer here takes on a busy machine. */
const ANSWER_MS = 60_000;
const DAY_MS = 86_400_000;
const PAGE_SIZE = 500;

/** A client of the gateway at `origin`; usage is read from the day of `since` (milliseconds since 1970) on. */
export function askingAt(origin: string, since: number): Asking {
  const at = (path: string): string => `${origin}/backend-api/v2/${path}`;
  /** The days' usage, by user; every user's is asked for after a restart, and nobody writes meanwhile. */
  let usage: Promise<ReadonlyMap<string, readonly Content[]>> | undefined;

  async function readUsage(): Promise<ReadonlyMap<string, readonly Content[]>> {
    const users = new Map<string, Content[]>();
    for (let day = since; day < Date.now() + DAY_MS; day += DAY_MS) {
      const text = await textOf(await ask(at(`usage/${new Date(day).toISOString().slice(0, 10)}`)));
      for (const line of text?.split('\n') ?? []) {
        if (line === '') continue;
        const { user, record } = JSON.parse(line) as { user: string; record: Content };
        users.set(user, [...(users.get(user) ?? []), record]);
      }
    }
    return users;
  }

  async function postJson(path: string, body: object, cookie?: string): Promise<Response> {
    const headers = { 'content-type': 'application/json', ...(cookie === undefined ? {} : { cookie }) };
    return await ask(at(path), { method: 'POST', headers, body: JSON.stringify(body) });
  }

  return {
    async putChat(id, body, cookie) {
      const response = await postJson(`chat/${id}`, { ...body, updated: body.revision }, cookie);
      await expectJson(response);
      return response.headers.getSetCookie()[0]?.split(';')[0];
    },
    async getChat(id, cookie) {
      const response = await ask(at(`chat/${id}`), cookie === undefined ? {} : { headers: { cookie } });
      const text = await textOf(response);
      if (text === undefined) return undefined;
      const { updated, ...body } = JSON.parse(text) as Content & { updated: number };
      // The tag, the time stamp and the content are of one version, or it counts as broken.
      const isOne = updated === body.revision && response.headers.get('etag') === `"${updated}"`;
      return isOne ? body : { ...body, digest: 'of another version' };
    },
    async addMemory(user, texts) {
      await expectJson(
        await postJson(`memory/${user}`, { items: texts.map((content) => ({ role: 'user', content })) }),
      );
    },
    async memory(user, words) {
      const found: string[] = [];
      const search = words === undefined ? '' : `&search=${encodeURIComponent(words)}`;
      for (let page: number | null = 1; page !== null; ) {
        const response = await ask(at(`memory/${user}?page=${page}&page_size=${PAGE_SIZE}${search}`));
        const { results, next } = (await expectJson(response)) as {
          results: { memory: string }[];
          next: number | null;
        };
        found.push(...results.map(({ memory }) => memory));
        page = next;
      }
      return found;
    },
    async upload(bucket, files) {
      const form = new FormData();
      for (const { name, bytes } of files) form.append('files', new File([new Uint8Array(bytes)], name));
      const answer = await expectJson(await ask(at(`files/${bucket}`), { method: 'POST', body: form }));
      const told = answer as { files: string[]; media: { name: string }[]; rejected: unknown[] };
      const names = [...told.files, ...told.media.map(({ name }) => name)];
      const isTaken = files.every(({ listed }) => names.includes(listed.name)) && names.length === files.length;
      if (!isTaken) throw new Error(`of ${files.map(({ name }) => name)} became ${JSON.stringify(told)}`);
    },
    async bucket(id) {
      const text = await textOf(await ask(at(`files/${id}`)));
      const events = await textOf(await ask(at(`files/${id}/stream`)));
      if ((text === undefined) !== (events === undefined)) throw new Error(`the two forms of ${id} disagree`);
      const media = [...(events ?? '').matchAll(/^data: (\{"action":"media".*\})$/gm)];
      return {
        text: text ?? '',
        media: media.map(([, json = '']) => (JSON.parse(json) as { filename: string }).filename),
      };
    },
    async media(bucket, form, name) {
      const response = await ask(`${origin}/files/${bucket}/${form}/${name}`);
      const bytes = Buffer.from(await response.arrayBuffer());
      if (response.status === 404) return undefined;
      if (!response.ok) throw failure(response, bytes.toString());
      return bytes;
    },
    async deleteBucket(id) {
      await expectJson(await ask(at(`files/${id}`), { method: 'DELETE' }));
    },
    async addUsage(user, record) {
      usage = undefined;
      const counts = { prompt_tokens: randomInt(100), completion_tokens: randomInt(100) };
      await expectJson(await postJson('usage', { user, provider: 'p', model: 'm', ...counts, record }));
    },
    async usage(user) {
      usage ??= readUsage();
      const records = (await usage).get(user) ?? [];
      const stats = (await expectJson(await ask(at(`stats?days=365&user=${user}`)))) as {
        totals: { requests: number };
      };
      return { records, summed: stats.totals.requests };
    },
    async addLog(user, record) {
      await expectJson(await postJson('log', { user, record }));
    },
    async beginConversation() {
      const url = `${origin}/v1/conversations`;
      return ((await expectJson(await ask(url, { method: 'POST' }))) as { id: string }).id;
    },
    async addItems(conversation, texts) {
      const items = texts.map((content) => ({ role: 'user', content }));
      const headers = { 'content-type': 'application/json' };
      const url = `${origin}/v1/conversations/${conversation}/items`;
      await expectJson(await ask(url, { method: 'POST', headers, body: JSON.stringify({ items }) }));
    },
    async items(conversation) {
      const found: string[] = [];
      for (let after: string | undefined = ''; after !== undefined; ) {
        const from: string = after === '' ? '' : `&after=${after}`;
        const url = `${origin}/v1/conversations/${conversation}/items?order=asc&limit=100${from}`;
        const page = (await expectJson(await ask(url))) as {
          data: { content: { text: string }[] }[];
          last_id: string;
          has_more: boolean;
        };
        found.push(...page.data.map(({ content }) => content[0]?.text ?? ''));
        after = page.has_more ? page.last_id : undefined;
      }
      return found;
    },
    async statusOf(address) {
      const response = await ask(`${origin}${address}`, { redirect: 'manual' });
      await response.arrayBuffer();
      return response.status;
    },
  };
}

async function ask(url: string, init: RequestInit = {}): Promise<Response> {
  return await fetch(url, { ...init, signal: AbortSignal.timeout(ANSWER_MS) });
}

/** Read to its end: only then an answer counts. */
async function expectJson(response: Response): Promise<unknown> {
  const text = await response.text();
  if (!response.ok) throw failure(response, text);
  return JSON.parse(text);
}

/** Undefined: not found. */
async function textOf(response: Response): Promise<string | undefined> {
  const text = await response.text();
  if (response.status === 404) return undefined;
  if (!response.ok) throw failure(response, text);
  return text;
}

function failure({ url, status }: Response, text: string): Error {
  return new Error(`${url} answered ${status}: ${text.slice(0, 500)}`);
}
