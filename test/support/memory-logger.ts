import type { Logger } from '../../src/core/logger.ts';

export interface MemoryLogger extends Logger {
  readonly lines: readonly { readonly level: string; readonly message: string; readonly fields: object }[];
}

/** A logger that remembers, so that tests can look for what must, or must never, be logged. */
export function memoryLogger(): MemoryLogger {
  const lines: { level: string; message: string; fields: object }[] = [];
  const at = (level: string) => (fields: object, message: string) => {
    lines.push({ level, message, fields });
  };
  const logger: MemoryLogger = {
    lines,
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: () => logger,
  };
  return logger;
}
