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
  readonly of: Readonly<Record<string, string | number | boolean>>;
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
  close(): Promise<void>;
}

/** A collector of OpenTelemetry that speaks OTLP over HTTP in JSON, on a free loopback port. */
export async function startOtlpCollector(): Promise<OtlpCollector> {
  const posts: { path: string; headers: IncomingHttpHeaders; text: string }[] = [];
  let status = 200;
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    if (status === 0) return;
    if (status === 200) {
      posts.push({ path: request.url ?? '', headers: request.headers, text: Buffer.concat(pieces).toString() });
    }
    response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const bodies = (path: string) => posts.filter((post) => post.path === path).map(({ text }) => JSON.parse(text));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    posts,
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
): Record<string, string | number | boolean> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => {
      const { stringValue, intValue, doubleValue, boolValue } = value as Record<string, string | number | boolean>;
      return [
        key,
        stringValue ?? (intValue === undefined ? undefined : Number(intValue)) ?? doubleValue ?? boolValue ?? '',
      ];
    }),
  );
}
