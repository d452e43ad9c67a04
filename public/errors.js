import { el } from './dom.js';

/** What a person can do about a failure, by status, code or the error's name. */
const ADVICE = [
  [/^unreachable/, 'Is Sluice still running? Look at the terminal where you started it, then try again.'],
  [/^unauthorized/, 'Open the address that Sluice printed when it started; the key is in it.'],
  [/auth|credential|401/i, 'Put the provider’s key into the environment or into sluice.yaml, then start Sluice again.'],
  [/rate|429/i, 'The provider limits how often it may be asked. Wait a moment, or choose another model.'],
  [/too_?large|413/i, 'Remove a picture, or begin a new chat: the whole conversation is sent with each message.'],
  [/not_?found|404/i, 'Choose another model from the list above.'],
  [/not_?supported|501/i, 'This model cannot do that. Choose another one from the list above.'],
  [/invalid|BadRequest|400|422/i, 'The model did not accept this request. A new chat or another model often helps.'],
  [/timeout|504/i, 'The provider took too long. Try again, or choose another model.'],
  [
    /connection|upstream|502|503|overloaded/i,
    'The provider cannot be reached at the moment. Check the network, or choose another model.',
  ],
];

/** `error` has message and, as far as known, code, name and status. `provider` is its entry in the list, if known. */
export function errorBox(error, provider) {
  const words = `${error.code ?? ''} ${error.name ?? ''} ${error.status ?? ''}`;
  const [, advice] = ADVICE.find(([pattern]) => pattern.test(words)) ?? [null, 'Try again; Sluice’s log says more.'];
  const needsKey = /auth|credential|401/i.test(words) && provider?.login_url;
  return el(
    'div',
    { className: 'error', role: 'alert' },
    el('p', {}, el('strong', {}, error.message.replace(/^\w+Error: /, ''))),
    el('p', {}, advice, ...(needsKey ? [' ', keyLink(provider)] : [])),
  );
}

function keyLink({ label, login_url: href }) {
  return el('a', { href, target: '_blank', rel: 'noopener noreferrer' }, `Get a key from ${label}`);
}
