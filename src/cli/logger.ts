import { writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import type pino from 'pino';
import { LOG_LEVELS, type LogLevel } from '../config/kinds.ts';
import type { Logger } from '../core/logger.ts';
import { Secrets } from '../core/secrets.ts';
import { LogOutput } from './log-output.ts';
import { fieldsWithoutSecrets } from './redact.ts';

/** The log of the process: JSON lines on stderr. */
export interface ProcessLogger extends Logger {
  /** From now on these texts are masked wherever they turn up in a line. Replaces the former ones. */
  hide(secrets: readonly string[]): void;
  /** Writes out what waits, at once: before the process ends. */
  flush(): void;
}

/** A logger that costs nothing, pino's 20 ms included, before its first line. */
export function createLogger(level: LogLevel, descriptor = 2): ProcessLogger {
  const secrets = new Secrets();
  const output = new LogOutput(descriptor);
  let root: pino.Logger | undefined;

  function open(): pino.Logger {
    // Synchronous, since a log line cannot wait for an import.
    const create = createRequire(import.meta.url)('pino') as typeof pino;
    root = create(
      {
        level,
        base: null,
        timestamp: create.stdTimeFunctions.isoTime,
        formatters: { level: (label) => ({ level: label }), log: fieldsWithoutSecrets },
        serializers: { err: (value: unknown) => value },
        hooks: { streamWrite: (line) => escaped(secrets.mask(line)) },
      },
      output,
    );
    return root;
  }

  /** A line without pino, which cannot be loaded when no file can be opened any more: then above all something has to be said. */
  function writeAlone(level: LogLevel, fields: object, msg: string): void {
    try {
      const line = { level, time: new Date().toISOString(), msg, ...fieldsWithoutSecrets(fields) };
      writeSync(descriptor, escaped(`${secrets.mask(JSON.stringify(line))}\n`));
    } catch {
      // There is no other place for it.
    }
  }

  const log = new LazyLogger(level, () => root ?? open(), writeAlone);
  return Object.assign(log, {
    hide(texts: readonly string[]) {
      // In a line the quotes and backslashes of a text are escaped.
      secrets.use(texts.flatMap((text) => [text, JSON.stringify(text).slice(1, -1)]));
    },
    flush() {
      output.flush();
    },
  });
}

/** A line of JSON in which nothing moves the cursor of a terminal: JSON leaves DEL and the controls of ISO 6429 as they are. */
function escaped(line: string): string {
  return line.replace(/[\u007f-\u009f]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`);
}

/** Opens pino, and for a child its child, with the first line that is really written: most requests write one or none. */
class LazyLogger implements Logger {
  readonly #least: number;
  readonly #level: LogLevel;
  readonly #open: () => pino.Logger;
  readonly #writeAlone: (level: LogLevel, fields: object, message: string) => void;
  #opened: pino.Logger | undefined;

  constructor(
    level: LogLevel,
    open: () => pino.Logger,
    writeAlone: (level: LogLevel, fields: object, message: string) => void,
  ) {
    this.#level = level;
    this.#least = LOG_LEVELS.indexOf(level);
    this.#open = open;
    this.#writeAlone = writeAlone;
  }

  debug(fields: object, message: string): void {
    this.#write('debug', fields, message);
  }

  info(fields: object, message: string): void {
    this.#write('info', fields, message);
  }

  warn(fields: object, message: string): void {
    this.#write('warn', fields, message);
  }

  error(fields: object, message: string): void {
    this.#write('error', fields, message);
  }

  child(fields: object): Logger {
    return new LazyLogger(this.#level, () => this.#target().child(fieldsWithoutSecrets(fields)), this.#writeAlone);
  }

  #write(level: Exclude<LogLevel, 'silent'>, fields: object, message: string): void {
    if (LOG_LEVELS.indexOf(level) < this.#least) return;
    let target: pino.Logger;
    try {
      target = this.#target();
    } catch {
      this.#writeAlone(level, fields, message);
      return;
    }
    target[level](fields, message);
  }

  #target(): pino.Logger {
    this.#opened ??= this.#open();
    return this.#opened;
  }
}
