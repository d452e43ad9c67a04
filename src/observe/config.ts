/** How much the request log keeps: nothing, everything but content, or all. */
export const REQUEST_LOGS = ['none', 'meta', 'full'] as const;
/** The `requestLog` of the section `observe`: `full` by choice of the operator only, since it keeps what people say. */
export type RequestLogMode = (typeof REQUEST_LOGS)[number];

/** Which finished requests get a line in the log of the process. */
export const ACCESS_LOGS = ['none', 'errors', 'all'] as const;
/** The `accessLog` of the section `observe`. `errors`: what failed, but not what its client left or stopped. */
export type AccessLogMode = (typeof ACCESS_LOGS)[number];

/** Where traces and metrics go, in the words of OpenTelemetry. */
export interface OtelConfig {
  /** Absolute addresses of OTLP over HTTP; absent: that signal is not sent. */
  readonly tracesUrl?: string;
  readonly metricsUrl?: string;
  /** Sent with every export; values may be secrets. */
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName: string;
  readonly resource: Readonly<Record<string, string>>;
  /** Whether upstreams get `traceparent`. */
  readonly propagates: boolean;
  /** Milliseconds. */
  readonly traceIntervalMs: number;
  readonly metricIntervalMs: number;
  readonly timeoutMs: number;
}

/** What is written down of requests, and who is told. */
export interface ObserveConfig {
  readonly requestLog: RequestLogMode;
  /** Entries that are kept. */
  readonly requestLogEntries: number;
  /** Bytes of request bodies and answers that are kept together, about. */
  readonly requestLogBytes: number;
  readonly accessLog: AccessLogMode;
  readonly otel?: OtelConfig;
}

/** The section `observe` of sluice.yaml. */
export interface ObserveSection {
  readonly requestLog?: RequestLogMode | undefined;
  readonly requestLogEntries?: number | undefined;
  readonly requestLogBytes?: number | undefined;
  readonly accessLog?: AccessLogMode | undefined;
  /** Address of an OpenTelemetry collector, as `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  readonly otelEndpoint?: string | undefined;
  readonly otelPropagate?: boolean | undefined;
}

/** Where the configuration says nothing. */
export const defaultObserve: ObserveConfig = {
  requestLog: 'meta',
  requestLogEntries: 250,
  requestLogBytes: 8 * 1024 * 1024,
  accessLog: 'errors',
};

/** The variables that are read here. */
export const OBSERVE_VARIABLES = [
  'SLUICE_REQUEST_LOG',
  'SLUICE_REQUEST_LOG_ENTRIES',
  'SLUICE_REQUEST_LOG_BYTES',
  'SLUICE_ACCESS_LOG',
  'SLUICE_OTEL_PROPAGATE',
  'OTEL_SDK_DISABLED',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_EXPORTER_OTLP_PROTOCOL',
  'OTEL_EXPORTER_OTLP_TIMEOUT',
  'OTEL_TRACES_EXPORTER',
  'OTEL_METRICS_EXPORTER',
  'OTEL_SERVICE_NAME',
  'OTEL_RESOURCE_ATTRIBUTES',
  'OTEL_BSP_SCHEDULE_DELAY',
  'OTEL_METRIC_EXPORT_INTERVAL',
] as const;
/** A name of the environment that this folder reads. */
export type ObserveVariable = (typeof OBSERVE_VARIABLES)[number];

type Environment = Readonly<Record<string, string | undefined>>;

/** The environment beats the file. A variable that makes no sense is named in `notes`, and has no effect. */
export function resolveObserve(
  environment: Environment,
  section: ObserveSection = {},
): {
  readonly config: ObserveConfig;
  readonly notes: readonly string[];
} {
  const read = new Reader(environment);
  const otel = otelOf(read, section);
  const { requestLog, requestLogEntries, requestLogBytes, accessLog } = defaultObserve;
  const config = {
    requestLog: read.oneOf('SLUICE_REQUEST_LOG', REQUEST_LOGS, section.requestLog ?? requestLog),
    requestLogEntries: read.number(
      'SLUICE_REQUEST_LOG_ENTRIES',
      1,
      100_000,
      section.requestLogEntries ?? requestLogEntries,
    ),
    requestLogBytes: read.number(
      'SLUICE_REQUEST_LOG_BYTES',
      1_024,
      2 ** 30,
      section.requestLogBytes ?? requestLogBytes,
    ),
    accessLog: read.oneOf('SLUICE_ACCESS_LOG', ACCESS_LOGS, section.accessLog ?? accessLog),
    ...(otel === undefined ? {} : { otel }),
  };
  return { config, notes: read.notes };
}

/** https://opentelemetry.io/docs/specs/otel/protocol/exporter/ and …/configuration/sdk-environment-variables/ */
function otelOf(read: Reader, section: ObserveSection): OtelConfig | undefined {
  if (read.text('OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return undefined;
  const base = read.url('OTEL_EXPORTER_OTLP_ENDPOINT') ?? section.otelEndpoint;
  const below = (path: string) => (base === undefined ? undefined : `${base.replace(/(?<!\/)\/+$/, '')}${path}`);
  const tracesUrl = isOff(read, 'OTEL_TRACES_EXPORTER')
    ? undefined
    : (read.url('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') ?? below('/v1/traces'));
  const metricsUrl = isOff(read, 'OTEL_METRICS_EXPORTER')
    ? undefined
    : (read.url('OTEL_EXPORTER_OTLP_METRICS_ENDPOINT') ?? below('/v1/metrics'));
  if (tracesUrl === undefined && metricsUrl === undefined) return undefined;
  const protocol = read.text('OTEL_EXPORTER_OTLP_PROTOCOL');
  if (protocol === 'grpc') {
    read.notes.push('OTEL_EXPORTER_OTLP_PROTOCOL: grpc is not spoken; sending http/json');
  }
  const { 'service.name': named, ...resource } = read.pairs('OTEL_RESOURCE_ATTRIBUTES');
  return {
    ...(tracesUrl === undefined ? {} : { tracesUrl }),
    ...(metricsUrl === undefined ? {} : { metricsUrl }),
    headers: read.pairs('OTEL_EXPORTER_OTLP_HEADERS'),
    serviceName: read.text('OTEL_SERVICE_NAME') ?? named ?? 'sluice',
    resource,
    propagates:
      read.oneOf('SLUICE_OTEL_PROPAGATE', ['true', 'false'], section.otelPropagate === true ? 'true' : 'false') ===
      'true',
    traceIntervalMs: read.number('OTEL_BSP_SCHEDULE_DELAY', 10, 600_000, 5_000),
    metricIntervalMs: read.number('OTEL_METRIC_EXPORT_INTERVAL', 10, 3_600_000, 60_000),
    timeoutMs: read.number('OTEL_EXPORTER_OTLP_TIMEOUT', 10, 600_000, 10_000),
  };
}

function isOff(read: Reader, name: ObserveVariable): boolean {
  return read.text(name) === 'none';
}

class Reader {
  readonly notes: string[] = [];
  readonly #environment: Environment;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  text(name: ObserveVariable): string | undefined {
    const value = this.#environment[name]?.trim();
    return value === '' ? undefined : value;
  }

  oneOf<T extends string>(name: ObserveVariable, allowed: readonly T[], otherwise: T): T {
    const value = this.text(name);
    const found = allowed.find((each) => each === value);
    if (value !== undefined && found === undefined) this.#wrong(name, allowed.join(', '));
    return found ?? otherwise;
  }

  number(name: ObserveVariable, least: number, most: number, otherwise: number): number {
    const value = this.text(name);
    if (value === undefined) return otherwise;
    const number = Number(value);
    if (Number.isInteger(number) && number >= least && number <= most) return number;
    this.#wrong(name, `a whole number from ${least} to ${most}`);
    return otherwise;
  }

  url(name: ObserveVariable): string | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    const url = URL.parse(value);
    // fetch takes no address with a name and a password in it.
    const isOpen = url?.username === '' && url.password === '';
    if (isOpen && (url.protocol === 'http:' || url.protocol === 'https:')) return value;
    this.#wrong(
      name,
      'an http or https address without user name and password (OTEL_EXPORTER_OTLP_HEADERS has room for keys)',
    );
    return undefined;
  }

  /** `name=value,name=value`, percent-encoded (W3C Baggage). */
  pairs(name: ObserveVariable): Record<string, string> {
    const found: Record<string, string> = {};
    for (const pair of (this.text(name) ?? '').split(',')) {
      if (pair.trim() === '') continue;
      const at = pair.indexOf('=');
      try {
        if (at < 1) throw new Error('no name');
        found[decodeURIComponent(pair.slice(0, at).trim())] = decodeURIComponent(pair.slice(at + 1).trim());
      } catch {
        this.#wrong(name, 'name=value, separated by commas');
      }
    }
    return found;
  }

  /** The value itself may be a secret. */
  #wrong(name: ObserveVariable, allowed: string): void {
    this.notes.push(`${name} is not understood and has no effect; allowed: ${allowed}`);
  }
}
