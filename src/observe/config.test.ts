import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defaultObserve, resolveObserve } from './config.ts';

describe('what the environment says of observing', () => {
  test('nothing: the defaults, and nobody is told', () => {
    assert.deepEqual(resolveObserve({}), { config: defaultObserve, notes: [] });
    assert.deepEqual(
      resolveObserve({ SLUICE_REQUEST_LOG: ' ', OTEL_EXPORTER_OTLP_ENDPOINT: '' }).config,
      defaultObserve,
    );
  });

  test('what makes no sense is named, without its value, and has no effect', () => {
    const { config, notes } = resolveObserve({
      SLUICE_REQUEST_LOG: 'everything',
      SLUICE_REQUEST_LOG_ENTRIES: '-1',
      SLUICE_ACCESS_LOG: 'yes',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317',
      OTEL_EXPORTER_OTLP_HEADERS: 'planted',
    });
    assert.deepEqual(config, defaultObserve);
    assert.deepEqual(notes.map((note) => note.split(' ')[0]).sort(), [
      'OTEL_EXPORTER_OTLP_ENDPOINT',
      'SLUICE_ACCESS_LOG',
      'SLUICE_REQUEST_LOG',
      'SLUICE_REQUEST_LOG_ENTRIES',
    ]);
    const named = resolveObserve({
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://user:planted@127.0.0.1:4318/v1/traces',
    });
    assert.equal(named.config.otel, undefined);
    assert.match(named.notes.join('|'), /^OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is not understood .*without user name/);
    assert.doesNotMatch(named.notes.join('|'), /planted/);
    const headers = resolveObserve({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318',
      OTEL_EXPORTER_OTLP_HEADERS: 'planted,a=%zz,good=1',
    });
    assert.deepEqual(headers.config.otel?.headers, { good: '1' });
    assert.doesNotMatch(JSON.stringify(headers.notes), /planted|zz/);
  });

  test('the environment beats the file', () => {
    const section = {
      requestLog: 'full',
      accessLog: 'all',
      otelEndpoint: 'http://c:4318',
      otelPropagate: true,
    } as const;
    const { config } = resolveObserve({ SLUICE_REQUEST_LOG: 'none', SLUICE_OTEL_PROPAGATE: 'false' }, section);
    assert.deepEqual([config.requestLog, config.accessLog], ['none', 'all']);
    assert.deepEqual([config.otel?.tracesUrl, config.otel?.propagates], ['http://c:4318/v1/traces', false]);
    assert.equal(resolveObserve({}, section).config.otel?.propagates, true);
  });

  test('addresses of signals, as the specification of OpenTelemetry has them', () => {
    const otel = (environment: Record<string, string>) => {
      const { config } = resolveObserve(environment);
      return [config.otel?.tracesUrl, config.otel?.metricsUrl];
    };
    const base = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318/base/' };
    assert.deepEqual(otel(base), ['http://c:4318/base/v1/traces', 'http://c:4318/base/v1/metrics']);
    assert.deepEqual(otel({ ...base, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://t/x' }), [
      'http://t/x',
      'http://c:4318/base/v1/metrics',
    ]);
    assert.deepEqual(otel({ ...base, OTEL_METRICS_EXPORTER: 'none' }), ['http://c:4318/base/v1/traces', undefined]);
    assert.deepEqual(otel({ ...base, OTEL_SDK_DISABLED: 'true' }), [undefined, undefined]);
    assert.deepEqual(otel({ OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://m/x' }), [undefined, 'http://m/x']);
  });

  test('the service has a name', () => {
    const of = (environment: Record<string, string>) =>
      resolveObserve({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c', ...environment }).config.otel;
    assert.equal(of({})?.serviceName, 'sluice');
    assert.equal(of({ OTEL_SERVICE_NAME: 'mine' })?.serviceName, 'mine');
    const named = of({ OTEL_RESOURCE_ATTRIBUTES: 'service.name=theirs,zone=a%20b' });
    assert.deepEqual([named?.serviceName, named?.resource], ['theirs', { zone: 'a b' }]);
  });
});
