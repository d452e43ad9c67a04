import { Command, CommanderError } from 'commander';
import type { Flags } from '../config/flags.ts';
import { suggest } from '../config/suggest.ts';
import { oneLine } from '../core/one-line.ts';
import { codeOf } from '../outbound/error-code.ts';
import { version } from '../package.ts';
import { EXIT_FAILED, EXIT_USAGE, explainFailure, Failure } from './failure.ts';
import type { TopOptions } from './top/index.ts';

/** Why something that a command said is not where it should be. */
let lost: Error | undefined;

/** Runs the command line. Ends with an exit code; only `serve` goes on until a signal. */
export async function run(words: readonly string[]): Promise<void> {
  // `sluice | head` closes the output early; that is no reason to end, and a full disk is none to stop serving.
  process.stderr.on('error', () => undefined);
  process.stdout.on('error', (error) => {
    if (codeOf(error) !== 'EPIPE') lost ??= error;
  });
  const program = createProgram();
  try {
    await program.parseAsync(words, { from: 'user' });
  } catch (error) {
    const { lines, exitCode } = explainFailure(
      error instanceof CommanderError ? usageFailure(error, words, program) : error,
    );
    for (const line of lines) if (line !== '') process.stderr.write(`sluice: ${line}\n`);
    if (exitCode === EXIT_FAILED && (await wantsAll(program.opts<Flags>()))) console.error(error);
    await end(exitCode);
  }
}

function createProgram(): Command {
  const program = new Command('sluice')
    .description('One address for every language model: an OpenAI-compatible gateway and a web chat backend.')
    .usage('[command] [options]')
    .version(version, '-v, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .option('--bind <host:port>', 'where to listen, or only a port (default: 127.0.0.1:1337; SLUICE_BIND)')
    .option('--config <file>', 'configuration file (default: sluice.yaml if there is one; SLUICE_CONFIG)')
    .option('--data-dir <folder>', 'folder for everything that is stored (SLUICE_DATA_DIR)')
    .option('--database <address>', 'PostgreSQL database instead of a file in that folder (SLUICE_DATABASE)')
    .option('--key <key>', 'access key that clients must show (SLUICE_KEY)')
    .option('--no-key', 'ask nobody for a key, also beyond loopback')
    .option('--workers <number>', 'processes that serve the port, or auto: one a core (default: 1; SLUICE_WORKERS)')
    .option('--log-level <level>', 'debug, info, warn, error or silent (default: info; SLUICE_LOG_LEVEL)')
    .configureHelp({ showGlobalOptions: true })
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });

  program
    .command('serve', { isDefault: true })
    .description('serve (the default)')
    .allowExcessArguments()
    .action(async (_options: object, command: Command) => {
      refuseWords(command);
      const { serve } = await import('./serve.ts');
      await serve(command.optsWithGlobals<Flags>());
    });
  program
    .command('models')
    .description('list all models with what they can do')
    .option('--json', 'as JSON')
    .action(async (options: { json?: true }, command: Command) => {
      const { listModels } = await import('./models.ts');
      const { output, complaints, exitCode } = await listModels(
        command.optsWithGlobals<Flags>(),
        options.json === true,
      );
      for (const complaint of complaints) process.stderr.write(`sluice: ${complaint}\n`);
      process.stdout.write(output);
      await end(exitCode);
    });
  program
    .command('doctor')
    .description('explain what is configured, what was found, what is wrong and how to mend it')
    .action(async (_options: object, command: Command) => {
      const [{ doctor }, { wantsColour }] = await Promise.all([
        import('./doctor/index.ts'),
        import('./doctor/print.ts'),
      ]);
      const exitCode = await doctor({
        flags: command.optsWithGlobals<Flags>(),
        environment: process.env,
        directory: process.cwd(),
        colour: wantsColour(process.stdout, process.env),
        write: (text) => process.stdout.write(text),
      });
      await end(exitCode);
    });
  program
    .command('pull')
    .argument('<model>', 'a short name such as qwen3-0.6b, maker/folder/file.gguf of Hugging Face, or an address')
    .description('fetch a model that then runs inside Sluice')
    .action(async (model: string, _options: object, command: Command) => {
      const { pull } = await import('./pull/index.ts');
      await pull(model, command.optsWithGlobals<Flags>(), { environment: process.env, output: process.stdout });
      await end(0);
    });
  program
    .command('move')
    .description('copy what sluice.db holds into an empty PostgreSQL database, the one that is configured')
    .action(async (_options: object, command: Command) => {
      const { move } = await import('./move.ts');
      process.stdout.write(await move(command.optsWithGlobals<Flags>(), process.env));
      await end(0);
    });
  program
    .command('top')
    .description('show live what a running Sluice does')
    .option('--url <address>', 'of the running Sluice (default: the one that the configuration describes)')
    .option('--interval <seconds>', 'between two looks (default: 1)')
    .action(async (_options: object, command: Command) => {
      const { top } = await import('./top/index.ts');
      await top(command.optsWithGlobals<Flags & TopOptions>());
      await end(0);
    });
  return program;
}

/** Whether somebody looks for the cause of a failure. What the file says does not count: it may be what could not be read. */
async function wantsAll(flags: Flags): Promise<boolean> {
  const { outerSettings } = await import('../config/flags.ts');
  // Folders do not matter here, and the working one may be what is gone.
  return outerSettings(flags, process.env, '/', []).logLevel === 'debug';
}

/** An unknown command arrives at the default one, as a word too many. */
function refuseWords(command: Command): void {
  const [word] = command.args;
  if (word !== undefined) throw unknownCommand(word, command.parent ?? command);
}

function commandsOf({ commands }: Command): readonly string[] {
  return commands.map((command) => command.name());
}

function unknownCommand(word: string, program: Command): Failure {
  const names = commandsOf(program);
  const all = [...names, 'help'];
  if (all.includes(word)) return new Failure(`'${word}' is a command of its own, and stands alone`, EXIT_USAGE);
  const near = suggest(word, all);
  const hint =
    near === undefined ? `there are ${names.slice(0, -1).join(', ')} and ${names.at(-1)}` : `did you mean ${near}?`;
  return new Failure(`unknown command '${word}' (${hint})`, EXIT_USAGE);
}

/** commander's words, on one line; asking for help or the version is no failure. */
function usageFailure(
  { code, message, exitCode }: CommanderError,
  words: readonly string[],
  program: Command,
): Failure {
  if (exitCode === 0) return new Failure('', 0);
  // Help for something that is none of them.
  if (code === 'commander.help') return unknownCommand(words[words.indexOf('help') + 1] ?? '', program);
  const command = words.find((word) => word === 'help' || commandsOf(program).includes(word));
  const help = command === undefined ? '"sluice --help"' : `"sluice ${command} --help"`;
  const more =
    code === 'commander.missingArgument'
      ? ` (${help} says which)`
      : code === 'commander.unknownOption' && !message.includes('(Did you mean')
        ? ` (${hintFor(message, help)})`
        : '';
  return new Failure(oneLine(message.replace(/^error: /, '')) + more, EXIT_USAGE);
}

/** Other gateways have options of their own for host and port. */
function hintFor(unknownOption: string, help: string): string {
  const isAddress = /'(?:-p|--port|--host)(?:=.*)?'/.test(unknownOption);
  return isAddress ? '"--bind 8080" or "--bind host:8080" says where to listen' : `${help} lists all`;
}

/** Ends once everything is written; connections that are kept alive do not hold it up. */
async function end(exitCode: number): Promise<void> {
  process.exitCode = exitCode;
  await written(process.stdout);
  if (lost !== undefined)
    process.stderr.write(`sluice: not all of the output could be written: ${explainFailure(lost).lines[0]}\n`);
  await written(process.stderr);
  process.exit(lost === undefined ? exitCode : exitCode || EXIT_FAILED);
}

function written(stream: NodeJS.WriteStream): Promise<unknown> {
  return new Promise((done) => stream.write('', done));
}
