import { copies, el } from './dom.js';
import { errorBox } from './errors.js';
import { growing } from './markdown.js';

/** What the person wrote. */
export function questionView({ text, images = [] }) {
  const pictures = images.map((src) => el('img', { src, alt: 'Attached image' }));
  return el('article', { className: 'question', ariaLabel: 'You' }, ...pictures, text && el('p', {}, text));
}

/**
 * What a model answers. `update` shows what came since the last time; `finish` what is known at the end.
 * `again` is called to have the question answered once more.
 */
export function answerView(message, { again, provider }) {
  const body = el('div', { className: 'body' });
  const grow = growing(body);
  const thoughts = el('p');
  const summary = el('summary', {}, 'Thinking…');
  const reasoning = el('details', { className: 'reasoning', hidden: true }, summary, thoughts);
  const wait = el('p', { className: 'wait', ariaLabel: 'Waiting for the answer' }, el('i'), el('i'), el('i'));
  const end = el('footer');
  const node = el('article', { className: 'answer', ariaLabel: 'Answer' }, reasoning, body, wait, end);
  let shown = '';

  const update = () => {
    reasoning.hidden = !message.reasoning;
    if (thoughts.textContent !== (message.reasoning ?? '')) thoughts.textContent = message.reasoning;
    if (shown !== message.text) grow(message.text);
    shown = message.text;
    if (shown !== '') summary.textContent = 'Thoughts';
    wait.hidden = shown !== '';
  };

  const finish = () => {
    update();
    wait.remove();
    summary.textContent = 'Thoughts';
    const copy = copies(el('button', { type: 'button', className: 'small' }, 'Copy'), () => message.text);
    const retry = el('button', { type: 'button', className: 'small again', onclick: again });
    retry.textContent = message.error ? 'Try again' : 'Regenerate';
    const note = noteOf(message);
    end.replaceChildren(
      ...(note ? [el('p', { className: 'note' }, note)] : []),
      ...(message.error ? [errorBox(message.error, provider())] : []),
      el('div', { className: 'line' }, ...(shown ? [copy] : []), retry, el('span', {}, infoOf(message))),
    );
  };
  return { node, update, finish };
}

function noteOf({ stopped, finish, error }) {
  if (stopped) return 'Stopped.';
  if (error) return null;
  if (finish === 'length') return 'The answer is cut off here: it reached its greatest length.';
  if (finish === 'content_filter') return 'The provider’s filter ended this answer.';
  return finish ? null : 'The answer broke off before its end.';
}

function infoOf({ text, from, usage, seconds }) {
  const tokens = usage && `${usage.prompt_tokens} → ${usage.completion_tokens} tokens`;
  const model = from && [from.model, from.label].filter(Boolean).join(' · ');
  return [model, tokens, text && seconds && `${seconds.toFixed(1)} s`].filter(Boolean).join(' · ');
}
