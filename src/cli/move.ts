import type { Flags } from '../config/flags.ts';
import { loadConfig } from '../config/load.ts';
import type { Environment } from '../config/paths.ts';
import { databaseOf, examineDatabase } from '../stores/index.ts';
import { move as copyDatabase } from '../stores/move.ts';
import { EXIT_USAGE, Failure } from './failure.ts';
import { table } from './table.ts';

/** `sluice move`: copies what `sluice.db` holds into the database on a server. Returns what to print; throws why nothing was copied. */
export async function move(flags: Flags, environment: Environment): Promise<string> {
  const { config } = await loadConfig({ flags, environment });
  const { dataDir, database } = config;
  if (database === undefined)
    throw new Failure(
      'no database to move to: name it with --database, SLUICE_DATABASE or database in sluice.yaml',
      EXIT_USAGE,
    );
  const file = await examineDatabase({ dataDir });
  if (file === undefined) throw new Failure(`nothing to move: there is no ${databaseOf(dataDir)}`);
  const server = await examineDatabase({ dataDir, database });
  for (const each of [file, server])
    if (each?.reason !== undefined) throw new Failure(`nothing was copied: database ${each.name}: ${each.reason}`);

  const copied = await copyDatabase(file.name, database);
  const lines = [
    `Copied from ${file.name} into the database ${server?.name}:`,
    ...table(copied.map(({ count, holds }) => [`  ${count}`, holds])),
    `${file.name} is left as it was. Files are used where they are: keep ${dataDir} as the data folder.`,
  ];
  return `${lines.join('\n')}\n`;
}
