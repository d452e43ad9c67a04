import type { Config } from '../../config/config.ts';
import { suggest } from '../../config/suggest.ts';
import { type Finding, good, note, wrong } from './finding.ts';
import { meant, type Offered } from './providers.ts';

/** Whether the names in the configuration (aliases, default provider, default model) stand for something. */
export function examineNames(config: Config, offered: readonly Offered[]): Finding[] {
  const findings = [...config.aliases].flatMap(([alias, targets]) =>
    targets.map((target) => targetFinding(`the alias "${alias}"`, `aliases.${alias}`, target, offered)),
  );
  const { defaultProvider, defaultModel } = config;
  if (defaultProvider !== undefined) findings.push(providerFinding(defaultProvider, offered));
  if (defaultModel !== undefined) {
    const isAlias = config.aliases.has(defaultModel);
    if (isAlias) findings.push(good(`the default model is the alias "${defaultModel}"`));
    else findings.push(targetFinding('the default model', 'defaultModel', defaultModel, offered));
  }
  return findings;
}

function targetFinding(what: string, path: string, target: string, offered: readonly Offered[]): Finding {
  const slash = target.indexOf('/');
  const named = slash === -1 ? undefined : offered.find(({ id }) => id === target.slice(0, slash));
  const candidates = named === undefined ? offered : [named];
  const model = named === undefined ? target : target.slice(slash + 1);
  if (candidates.some(({ models }) => models.includes(model))) return good(`${what} stands for ${target}`);
  const unknown = candidates.filter(({ isKnown }) => !isKnown).map(({ id }) => id);
  if (unknown.length > 0)
    return note(`${what} stands for ${target}, which cannot be checked while ${unknown.join(', ')} cannot be asked`);
  const all =
    named === undefined ? candidates.flatMap(({ id, models }) => models.map((each) => `${id}/${each}`)) : named.models;
  return wrong(`${what} points to "${target}", which no provider offers`, `${meant(model, all)}correct ${path}`);
}

function providerFinding(id: string, offered: readonly Offered[]): Finding {
  if (offered.some((each) => each.id === id)) return good(`the default provider is ${id}`);
  const near = suggest(
    id,
    offered.map((each) => each.id),
  );
  const hint = near === undefined ? '' : `did you mean "${near}"? `;
  return wrong(
    `the default provider "${id}" is not on`,
    `${hint}on are: ${offered.map((each) => each.id).join(', ') || 'none'}`,
  );
}
