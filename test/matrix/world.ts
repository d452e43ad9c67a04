import { startGatewayBefore } from '../journeys/gateway-before.ts';
import type { VendorAnswer, VendorScript } from '../support/vendor-script.ts';
import { Overheard } from './overhear.ts';
import { anthropic } from './upstreams/anthropic.ts';
import { gemini } from './upstreams/gemini.ts';
import { openAiChat } from './upstreams/openai-chat.ts';
import { openAiResponses } from './upstreams/openai-responses.ts';
import type { Arrived, MatrixUpstream, SeenByUpstream, UpstreamServer } from './vocabulary.ts';

/** The columns of the tables. */
export const UPSTREAMS: readonly MatrixUpstream[] = [openAiChat, openAiResponses, anthropic, gemini];

/** One upstream as a test plays it. */
export interface Seat {
  readonly upstream: MatrixUpstream;
  /** Its model, as clients name it. */
  readonly model: string;
  /** What it answers from now on: answers one after the other, the last one for all that follow. What has arrived is forgotten. */
  answers(...answers: readonly VendorAnswer[]): void;
  /** The questions that arrived since. */
  readonly seen: readonly SeenByUpstream[];
  /** The last of them, as sent and as read. */
  readonly last: SeenByUpstream;
  readonly arrived: Arrived;
}

export interface World {
  readonly origin: string;
  readonly overheard: Overheard;
  seat(upstream: MatrixUpstream): Seat;
  close(): Promise<void>;
}

/** One gateway before an upstream of each wire format. */
export async function openWorld(): Promise<World> {
  const scripts = new Map<MatrixUpstream, VendorScript>();
  const servers = new Map<MatrixUpstream, UpstreamServer>();
  for (const upstream of UPSTREAMS) {
    const script: VendorScript = (request) => scripts.get(upstream)?.(request) ?? { text: ['Hello'] };
    servers.set(upstream, await upstream.start(script));
  }
  const rows = [...servers].map(
    ([{ provider, kind }, { baseUrl }]) =>
      `  ${provider}: { kind: ${kind}, baseUrl: '${baseUrl}', apiKey: ${provider}-key }`,
  );
  const { gateway, close } = await startGatewayBefore([...servers.values()], `providers:\n${rows.join('\n')}\n`);
  const overheard = new Overheard(gateway.origin);
  return {
    origin: gateway.origin,
    overheard,
    seat: (upstream) => seatOf(upstream, servers.get(upstream)?.requests ?? [], scripts),
    async close() {
      overheard.close();
      await close();
    },
  };
}

function seatOf(
  upstream: MatrixUpstream,
  requests: readonly SeenByUpstream[],
  scripts: Map<MatrixUpstream, VendorScript>,
): Seat {
  let start = requests.length;
  const seen = (): readonly SeenByUpstream[] => requests.slice(start).filter(({ method }) => method === 'POST');
  const last = (): SeenByUpstream => {
    const found = seen().at(-1);
    if (found === undefined) throw new Error(`nothing arrived at the upstream ${upstream.title}`);
    return found;
  };
  return {
    upstream,
    model: `${upstream.provider}/${upstream.model}`,
    answers(...answers) {
      start = requests.length;
      let count = 0;
      scripts.set(upstream, ({ method }) => {
        if (method === 'POST') count += 1;
        return answers[Math.min(count, answers.length) - 1] ?? {};
      });
    },
    get seen() {
      return seen();
    },
    get last() {
      return last();
    },
    get arrived() {
      return upstream.read(last().body);
    },
  };
}
