import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A span as it arrived, with its attributes as one object. */
export interface SeenSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status?: { readonly code: number; readonly message?: string };
  readonly events?: readonly { readonly name: string; readonly attributes: readonly object[] }[];
  readonly of: ReturnType<typeof objectOf>;
}

export interface OtlpCollector {
  /** What `OTEL_EXPORTER_OTLP_ENDPOINT` would be. */
  readonly endpoint: string;
  readonly posts: readonly { readonly path: string; readonly headers: IncomingHttpHeaders; readonly text: string }[];
  readonly spans: readonly SeenSpan[];
  /** The newest points of a metric, each with its attributes as one object. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it
  points(metric: string): readonly any[];
  /** What it answers from now on; 0: nothing at all. */
  status: number;
  /** The same for one path alone. */
  readonly statusOf: Map<string, number>;
  /** The bodies of its answers, by path; `{}` where none is said. */
  readonly answerOf: Map<string, object>;
  /** Paths to which something came that was not taken. */
  readonly refused: Set<string>;
  close(): Promise<void>;
}

/** A collector of OpenTelemetry that speaks OTLP over HTTP in JSON, on a free loopback port. */
export async function startOtlpCollector(): Promise<OtlpCollector> {
  const posts: { path: string; headers: IncomingHttpHeaders; text: string }[] = [];
  let status = 200;
  const statusOf = new Map<string, number>();
  const answerOf = new Map<string, object>();
  const refused = new Set<string>();
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const path = request.url ?? '';
    const answer = statusOf.get(path) ?? status;
    if (answer === 200) posts.push({ path, headers: request.headers, text: Buffer.concat(pieces).toString() });
    else refused.add(path);
    if (answer === 0) return;
    response.writeHead(answer, { 'content-type': 'application/json' }).end(JSON.stringify(answerOf.get(path) ?? {}));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const bodies = (path: string) => posts.filter((post) => post.path === path).map(({ text }) => JSON.parse(text));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    posts,
    statusOf,
    answerOf,
    refused,
    get spans() {
      return bodies('/v1/traces').flatMap((body) =>
        body.resourceSpans[0].scopeSpans[0].spans.map((span: { attributes: [] }) => ({
          ...span,
          of: objectOf(span.attributes),
        })),
      );
    },
    points(wanted) {
      const metrics = bodies('/v1/metrics').at(-1)?.resourceMetrics[0].scopeMetrics[0].metrics ?? [];
      const found = metrics.find(({ name }: { name: string }) => name === wanted);
      return (found?.histogram.dataPoints ?? []).map((point: { attributes: [] }) => ({
        ...point,
        of: objectOf(point.attributes),
      }));
    },
    get status() {
      return status;
    },
    set status(next) {
      status = next;
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** The attributes of something. */
export function objectOf(
  attributes: readonly { key: string; value: Readonly<Record<string, unknown>> }[],
): Record<string, string | number | boolean | readonly unknown[]> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => {
      if ('arrayValue' in value) {
        const { values } = value['arrayValue'] as { values: readonly { stringValue: string }[] };
        return [key, values.map((each) => each.stringValue)];
      }
      const { stringValue, intValue, doubleValue, boolValue } = value as Record<string, string | number | boolean>;
      return [
        key,
        stringValue ?? (intValue === undefined ? undefined : Number(intValue)) ?? doubleValue ?? boolValue ?? '',
      ];
    }),
  );
}
