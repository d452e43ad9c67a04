import { region, t } from '../../i18n/index.ts';
import type { Message } from '../../state/model.ts';

/** Model, provider, tokens and speed of an answer. */
export function Info({ message }: { readonly message: Message }) {
  const { model, label, usage, timing, memories } = message;
  const tokens = usage && t('chat.tokens', { prompt: usage.promptTokens, completion: usage.completionTokens });
  const seconds = timing?.ended === undefined ? undefined : (timing.ended - timing.asked) / 1000;
  const parts = [
    [model, label].filter(Boolean).join(' · '),
    tokens,
    seconds === undefined ? undefined : t('chat.seconds', { seconds: round(seconds) }),
    speedOf(message),
    memories === undefined ? undefined : t('memory.wentAlong', { count: memories }),
    message.edited ? t('chat.edited') : undefined,
  ].filter((part) => part !== undefined && part !== '');
  return (
    <small class="info" title={detailsOf(message)}>
      {parts.join(' · ')}
    </small>
  );
}

/** Tokens a second from the first one on, where the time was long enough to tell. */
function speedOf({ usage, timing }: Message): string | undefined {
  if (usage === undefined || timing?.first === undefined || timing.ended === undefined) return undefined;
  const seconds = (timing.ended - timing.first) / 1000;
  if (seconds < 0.2 || usage.completionTokens < 2) return undefined;
  return t('chat.speed', { speed: round(usage.completionTokens / seconds) });
}

function detailsOf({ usage, timing, createdAt }: Message): string {
  const first = timing?.first === undefined ? undefined : (timing.first - timing.asked) / 1000;
  return [
    new Date(createdAt).toLocaleString(region()),
    first === undefined ? '' : t('chat.firstToken', { seconds: round(first) }),
    usage?.cachedTokens ? t('chat.cached', { count: usage.cachedTokens }) : '',
    usage?.reasoningTokens ? t('chat.thought', { count: usage.reasoningTokens }) : '',
  ]
    .filter((line) => line !== '')
    .join('\n');
}

function round(value: number): number {
  return value < 10 ? Math.round(value * 10) / 10 : Math.round(value);
}
