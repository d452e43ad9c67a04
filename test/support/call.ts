import { CallScope, type Credentials } from '../../src/core/call.ts';
import type { Logger } from '../../src/core/logger.ts';

/** A `Call` for tests, with the handle that cancels it and everything it logged. */
export interface TestCall extends CallScope {
  readonly log: TestLogger;
}

export interface TestLogger extends Logger {
  readonly lines: readonly { readonly level: string; readonly fields: object; readonly message: string }[];
}

export function testCall(credentials: Credentials = {}): TestCall {
  return new CallScope('req-test', testLogger(), credentials) as TestCall;
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
