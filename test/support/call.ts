import type { Call, Credentials } from '../../src/core/call.ts';
import { SluiceError } from '../../src/core/errors.ts';
import type { Logger } from '../../src/core/logger.ts';

/** A `Call` for tests, with the handle that cancels it and everything it logged. */
export interface TestCall extends Call {
  readonly log: TestLogger;
  cancel(reason?: Error): void;
}

export interface TestLogger extends Logger {
  readonly lines: readonly { readonly level: string; readonly fields: object; readonly message: string }[];
}

export function testCall(credentials: Credentials = {}): TestCall {
  const controller = new AbortController();
  const { signal } = controller;
  return {
    id: 'req-test',
    signal,
    get cancelled() {
      return signal.aborted ? (signal.reason as Error) : undefined;
    },
    onCancel(listener) {
      const run = (): void => listener(signal.reason as Error);
      if (signal.aborted) run();
      else signal.addEventListener('abort', run, { once: true });
      return () => signal.removeEventListener('abort', run);
    },
    credentials,
    log: testLogger(),
    cancel: (reason = new SluiceError('cancelled', 'The client left.')) => controller.abort(reason),
  };
}

export function testLogger(): TestLogger {
  const lines: { level: string; fields: object; message: string }[] = [];
  const at = (level: string) => (fields: object, message: string) => {
    lines.push({ level, fields, message });
  };
  const logger: TestLogger = {
    lines,
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: () => logger,
  };
  return logger;
}
