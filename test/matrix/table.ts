import { readFileSync } from 'node:fs';
import type { Outcome } from './abilities.ts';
import type { TaskClient } from './tasks.ts';
import { ABILITIES, type MatrixClient, type MatrixUpstream, type Option, type Task } from './vocabulary.ts';

/** What came of each cell: by client, row and upstream. A cell that failed is not there. */
export class Outcomes {
  readonly #cells = new Map<string, Outcome>();

  note(client: string, row: string, upstream: MatrixUpstream, outcome: Outcome): void {
    this.#cells.set(keyOf(client, row, upstream), outcome);
  }

  of(client: string, row: string, upstream: MatrixUpstream): Outcome | undefined {
    return this.#cells.get(keyOf(client, row, upstream));
  }
}

function keyOf(client: string, row: string, { title }: MatrixUpstream): string {
  return JSON.stringify([client, row, title]);
}

export interface Tables {
  readonly clients: readonly MatrixClient[];
  readonly taskClients: readonly TaskClient[];
  readonly upstreams: readonly MatrixUpstream[];
  readonly outcomes: Outcomes;
}

/** docs/compatibility.md, as the last run of the matrix found it. */
export function compatibilityMarkdown(tables: Tables): string {
  const { clients, taskClients } = tables;
  return `${[
    HEAD,
    ...clients.map((client) => section(client, ABILITIES, tables)),
    '## Beside chats',
    ...taskClients.map((client) => taskSection(client, tables)),
    '## Why some fields have no place',
    fieldReasons(tables),
    '## What answers cannot tell',
    answerReasons(tables),
    '## Tasks that are not there',
    `These are refused with 501 and the code \`not_supported\`, before anybody is asked.`,
    taskReasons(tables),
  ].join('\n\n')}\n`;
}

const HEAD = `# Compatibility

<!-- Written by \`npm run compatibility\` from what the tests in test/matrix found; \`npm test\` fails where it is out of date. -->

Each client library, unmodified, talks to Sluice over HTTP, which talks to an upstream that speaks the wire format of the column.
Both ends are looked at: what the client made of the answer, and what reached the upstream.

- **yes**: everything arrives, exactly.
- **yes, without** \`seed\`: the upstream's API has no place for that field. The rest arrives; the header \`x-sluice-dropped\` names the
  field, and with \`"strict": true\` or \`x-sluice-strict: 1\` the request is a 400 that names it instead.
- **–**: the upstream has nothing of the kind; **no such option**: the client has nothing of the kind.

| Row | What is tried |
|---|---|
| text | a whole answer under instructions, with temperature, limit of tokens, stop words, seed and \`top_k\` where the client has them |
| stream | each piece before the next is said, and how the answer ended |
| tools | a forced call, its result, and the last word |
| parallel tools | two calls at once in a stream, their arguments in fragments, both results; one call at a time where the client can ask for it |
| vision | a picture beside a text, in low detail where the client can ask for it |
| structured output | JSON of a schema, as the client reads it |
| JSON of any form | JSON without a schema |
| reasoning | thoughts in a stream that lead to a call, and their way back, with the vendor's signature, beside the result |
| usage | tokens of the prompt, of the answer, from the cache and of thoughts, for whole and streamed answers |
| error | 400, 404 and 429 before the answer, whole and streamed, and a failure in the middle of a stream, as the client's own errors |
| abort | a client that leaves in the middle, or gives up waiting, stops the upstream |`;

function section(client: MatrixClient | TaskClient, rows: readonly string[], tables: Tables): string {
  const { upstreams, outcomes } = tables;
  const lines = rows.map((row) => {
    const cells = upstreams.map((upstream) => cellOf(outcomes.of(client.title, row, upstream)));
    return `| ${row} | ${cells.join(' | ')} |`;
  });
  const level = 'task' in client ? '###' : '##';
  const versions = client.packages.map((name) => `${name} ${versionOf(name)}`).join(', ');
  return [
    `${level} ${client.title}`,
    '',
    `Tried with ${versions}.`,
    '',
    `| | ${upstreams.map(({ title }) => title).join(' | ')} |`,
    `|---|${upstreams.map(() => '---|').join('')}`,
    ...lines,
  ].join('\n');
}

function taskSection(client: TaskClient, tables: Tables): string {
  return section(client, Object.keys(client.trials), tables);
}

const UNTOLD: Readonly<Record<string, string>> = {
  cached: 'cached tokens',
  reasoningTokens: 'tokens of thoughts',
  usage: 'counts',
  stream: 'pieces',
};

function cellOf(outcome: Outcome | undefined): string {
  if (outcome === undefined) return '**no**';
  const { dropped, untold } = outcome;
  if (untold.includes('missing')) return '–';
  if (untold.includes('unasked')) return 'no such option';
  const lost = [...dropped.map((field) => `\`${field}\``), ...untold.map((name) => UNTOLD[name] ?? name)];
  return lost.length === 0 ? 'yes' : `yes, without ${lost.join(', ')}`;
}

function fieldReasons({ clients, upstreams }: Tables): string {
  const rows = upstreams.flatMap(({ title, cannot, lostByTask = {} }) => [
    ...Object.entries(cannot).map(([option, reason]) => {
      const words = new Set(clients.flatMap(({ words }) => words[option as Option] ?? []));
      return [title, [...words].map((word) => `\`${word}\``).join(', '), reason];
    }),
    ...Object.values(lostByTask).flatMap((fields) =>
      Object.entries(fields).map(([field, reason]) => [title, `\`${field}\``, reason]),
    ),
  ]);
  return table(['Upstream', 'Field, as clients call it', 'Why'], rows);
}

function answerReasons({ clients, upstreams, taskClients }: Tables): string {
  const deaf = clients.flatMap(({ title, deaf = {} }) =>
    Object.entries(deaf).map(([name, reason]) => [title, 'all', UNTOLD[name] ?? name, reason]),
  );
  const untold = upstreams.flatMap((upstream) =>
    taskClients.flatMap(({ title, task }) =>
      Object.entries(upstream.untold?.[task] ?? {}).map(([row, reason]) => [
        title,
        upstream.title,
        UNTOLD[row] ?? row,
        reason,
      ]),
    ),
  );
  return table(['Client', 'Upstream', 'What', 'Why'], [...deaf, ...untold]);
}

function taskReasons({ upstreams, taskClients }: Tables): string {
  const rows = upstreams.flatMap(({ title, cannotDo }) =>
    taskClients.flatMap((client) => {
      const reason = cannotDo[client.task satisfies Task];
      return reason === undefined ? [] : [[title, client.title, reason]];
    }),
  );
  return table(['Upstream', 'Task', 'Why'], rows);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), `|${head.map(() => '---|').join('')}`, ...rows.map(line)].join('\n');
}

/** The version that is installed for the tests. */
function versionOf(name: string): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  const { devDependencies } = JSON.parse(text) as { devDependencies: Record<string, string> };
  return devDependencies[name] ?? 'of an unknown version';
}
