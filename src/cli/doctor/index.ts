import type { Flags } from '../../config/load.ts';
import type { Environment } from '../../config/paths.ts';
import { maskOf, secretsIn, secretsOf } from '../../config/secrets.ts';
import { version } from '../../version.ts';
import { findLocal } from '../all-providers.ts';
import { EXIT_FAILED } from '../failure.ts';
import { examineConfiguration } from './configuration.ts';
import { examineEmbedded } from './embedded.ts';
import { type Finding, good, type Section, wrong } from './finding.ts';
import { examineMachine } from './machine.ts';
import { examineNames } from './names.ts';
import { sectionText, verdict } from './print.ts';
import { examineProviders } from './providers.ts';

export interface DoctorOptions {
  readonly flags: Flags;
  readonly environment: Environment;
  readonly directory: string;
  readonly colour: boolean;
  /** Told section by section, as asking takes a while. */
  readonly write: (text: string) => void;
}

/** `sluice doctor`: what is configured, what was found, what is wrong and how to mend it. Returns the exit code. */
export async function doctor({ flags, environment, directory, colour, write }: DoctorOptions): Promise<number> {
  const sections: Section[] = [];
  const { findings, config } = await examineConfiguration({ flags, environment, directory });
  const mask = maskOf([...secretsIn(environment), ...(config === undefined ? [] : secretsOf(config))]);

  function tell(title: string, found: readonly Finding[]): void {
    if (found.length === 0) return;
    const section = { title, findings: found };
    sections.push(section);
    write(`${sectionText(section, colour, mask)}\n`);
  }

  write(`Sluice ${version}\n\n`);
  tell('Configuration', findings);
  if (config !== undefined) {
    const [providers, local, embedded] = await Promise.all([
      examineProviders(config, environment),
      attempt('local servers', examineLocal(config)),
      attempt('the embedded model', examineEmbedded(config)),
    ]);
    tell('Providers', providers.findings);
    tell('Local servers', local.findings);
    tell('Embedded model', embedded.findings);
    tell('Names', examineNames(config, [...providers.offered, ...local.offered, ...embedded.offered]));
    tell('This machine', await examineMachine(config));
  }
  write(verdict(sections));
  return sections.some((section) => section.findings.some(({ mark }) => mark === 'wrong')) ? EXIT_FAILED : 0;
}

type Examined = Awaited<ReturnType<typeof examineProviders>>;

async function examineLocal(config: Parameters<typeof findLocal>[0]): Promise<Examined> {
  if (!config.detectLocal) return { findings: [good('detection is switched off by detectLocal')], offered: [] };
  const found = await findLocal(config);
  if (found.length === 0) {
    const text =
      'none is running now; Ollama, LM Studio, llama.cpp, vLLM, LocalAI and Jan are used as soon as they run';
    return { findings: [good(text)], offered: [] };
  }
  return await examineProviders({ ...config, providers: found }, {});
}

/** A part of the examination that itself fails is a finding, and the others go on. */
async function attempt(what: string, examination: Promise<Examined>): Promise<Examined> {
  return await examination.catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    return { findings: [wrong(`${what} could not be examined: ${reason}`)], offered: [] };
  });
}
