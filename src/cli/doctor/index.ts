import type { Flags } from '../../config/flags.ts';
import type { Environment } from '../../config/paths.ts';
import { maskOf, secretsIn, secretsOf } from '../../config/secrets.ts';
import type { Origin, Provider } from '../../core/provider.ts';
import { version } from '../../package.ts';
import { findLocal, openProviders } from '../all-providers.ts';
import { EXIT_FAILED } from '../failure.ts';
import { examineConfiguration } from './configuration.ts';
import { examineEmbedded } from './embedded.ts';
import { type Finding, good, type Section, wrong } from './finding.ts';
import { examineMachine } from './machine.ts';
import { examineNames } from './names.ts';
import { sectionText, verdict } from './print.ts';
import { type Examined, examineProviders, keyPlace, nothingYet } from './providers.ts';

interface DoctorOptions {
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
  const mask = maskOf([...secretsIn(environment), ...secretsOf(config)]);

  function tell(title: string, found: readonly Finding[]): void {
    if (found.length === 0) return;
    const section = { title, findings: found };
    sections.push(section);
    write(`${sectionText(section, colour, mask)}\n`);
  }

  write(`Sluice ${version}\n\n`);
  tell('Configuration', findings);
  const local = await findLocal(config);
  const askable = config.providers.map(({ models: _, ...provider }) => provider);
  const { on, waiting, close } = await openProviders({ ...config, providers: askable }, local);
  const [providers, servers, embedded] = await Promise.all([
    examineProviders(from(on, 'file', 'environment'), config.providers, (provider) =>
      keyPlace(provider, config, environment),
    ),
    examineProviders(from(on, 'local'), local, () => undefined),
    attempt(examineEmbedded(config, from(on, 'embedded'))),
  ]);
  await close();
  tell('Providers', orElse(providers.findings, nothingYet));
  tell('Local servers', orElse(servers.findings, config.detectLocal ? noneRuns : isOff));
  tell('Embedded model', embedded.findings);
  const offered = [providers, servers, embedded].flatMap((each) => each.offered);
  tell('Names', await examineNames(config, offered, waiting));
  tell('This machine', await examineMachine(config));
  write(verdict(sections));
  return sections.some((section) => section.findings.some(({ mark }) => mark === 'wrong')) ? EXIT_FAILED : 0;
}

const isOff = good('detection is switched off by detectLocal');
const noneRuns = good(
  'none is running now; Ollama, LM Studio, llama.cpp, vLLM, LocalAI and Jan are used as soon as they run',
);

function from(providers: readonly Provider[], ...origins: readonly Origin[]): readonly Provider[] {
  return providers.filter(({ origin }) => origins.includes(origin));
}

function orElse(findings: readonly Finding[], otherwise: Finding): readonly Finding[] {
  return findings.length === 0 ? [otherwise] : findings;
}

/** A part of the examination that itself fails is a finding, and the others go on. */
async function attempt(examination: Promise<Examined>): Promise<Examined> {
  return await examination.catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    return { findings: [wrong(`the embedded model could not be examined: ${reason}`)], offered: [] };
  });
}
