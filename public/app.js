import { converse, GatewayError, loadCatalog } from './api.js';
import { chat, loadChoice, newChat, saveChat, saveChoice, take, toRequest } from './chat.js';
import { announce, byId, copies, el } from './dom.js';
import { errorBox } from './errors.js';
import { attach, takeImages } from './images.js';
import { findChoice, openPicker, setCatalog } from './picker.js';
import { answerView, questionView } from './thread.js';

const scroll = byId('scroll');
const prompt = byId('prompt');
let providers = [];
let choice = loadChoice();
/** Set while an answer is on its way. */
let stop = null;

function setChoice(wish) {
  choice = findChoice(wish);
  byId('model-name').textContent = choice.label;
  byId('attach').hidden = !choice.vision;
  if (!choice.vision) takeImages();
  byId('curl').textContent = curlFor(choice);
}

function curlFor({ model }) {
  const body = JSON.stringify({ ...(model && { model }), messages: [{ role: 'user', content: 'Hello!' }] });
  return `curl ${location.origin}/v1/chat/completions \\\n  -H "Content-Type: application/json" \\\n  -d '${body}'`;
}

async function showCatalog() {
  try {
    const catalog = await loadCatalog();
    providers = catalog.providers;
    setCatalog(catalog);
    setChoice(choice);
    // Dozens more wait for a key; what is on is what counts here.
    const items = providers
      .filter(({ active_by_default: ready }) => ready)
      .map(({ name, label }) => {
        const count = catalog.models[name]?.length ?? 0;
        const what = count > 0 ? `${count} ${count === 1 ? 'model' : 'models'}` : 'no model listed';
        return el('li', {}, el('strong', {}, label), el('span', {}, what));
      });
    byId('providers').replaceChildren(...items);
    byId('demo-note').hidden = !providers.some(({ name }) => name === 'embedded');
  } catch (error) {
    byId('model-name').textContent = 'No models';
    byId('providers').replaceChildren(el('li', {}, errorBox(error)));
  }
}

const atEnd = () => scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < 80;
const toEnd = () => scroll.scrollTo({ top: scroll.scrollHeight, behavior: 'instant' });

function addView(message) {
  const provider = () =>
    providers.find(({ name, label }) => name === choice?.provider || label === message.from?.label);
  const view = message.role === 'user' ? { node: questionView(message) } : answerView(message, { again, provider });
  byId('thread').append(view.node);
  byId('welcome').hidden = true;
  return view;
}

async function run(action) {
  const question = { provider: choice.provider || undefined, model: choice.model, conversation: chat.conversation };
  const body = {
    ...question,
    conversation_id: chat.id,
    id: `${Date.now()}`,
    action,
    messages: toRequest(chat.messages),
  };
  const message = { role: 'assistant', text: '' };
  chat.messages.push(message);
  saveChat();
  const view = addView(message);
  const began = performance.now();
  const leaving = new AbortController();
  setRunning(leaving);
  view.update();
  toEnd();
  let frame = 0;
  const onChunk = (chunk) => {
    take(message, chunk);
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      const follow = atEnd();
      view.update();
      if (follow) toEnd();
    });
  };
  try {
    await converse(body, onChunk, leaving.signal);
  } catch (error) {
    if (error.name === 'AbortError') message.stopped = true;
    else message.error = { message: error.message, code: error.code, status: error.status };
    if (!(error instanceof GatewayError) && !message.stopped) console.error(error);
  }
  cancelAnimationFrame(frame);
  message.seconds = (performance.now() - began) / 1000;
  const follow = atEnd();
  view.finish();
  if (follow) toEnd();
  setRunning(null);
  announce(message.stopped ? 'Stopped' : message.error ? '' : 'The answer is complete');
  saveChat();
}

function setRunning(controller) {
  stop = controller && (() => controller.abort());
  document.body.classList.toggle('running', stop !== null);
  byId('thread').ariaBusy = String(stop !== null);
  const label = stop ? 'Stop' : 'Send';
  Object.assign(byId('send'), { ariaLabel: label, title: label });
}

function again() {
  if (stop) return;
  chat.messages.pop();
  byId('thread').lastElementChild.remove();
  run('variant');
}

function submit() {
  const text = prompt.value.trim();
  const images = takeImages();
  if (stop || !choice || (text === '' && images.length === 0)) return;
  prompt.value = '';
  fit();
  const message = { role: 'user', text, images };
  chat.messages.push(message);
  addView(message);
  run('next');
}

/** Makes the field as high as its text. */
function fit() {
  prompt.style.height = 'auto';
  prompt.style.height = `${prompt.scrollHeight}px`;
}

byId('composer').addEventListener('submit', (event) => {
  event.preventDefault();
  if (stop) stop();
  else submit();
});
prompt.addEventListener('input', fit);
prompt.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  submit();
});
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape' && !document.querySelector('dialog[open]')) stop?.();
});
byId('model').addEventListener('click', () => {
  openPicker(choice, (entry) => {
    setChoice(entry);
    saveChoice(choice);
    prompt.focus();
  });
});
byId('new-chat').addEventListener('click', () => {
  stop?.();
  newChat();
  byId('thread').replaceChildren();
  byId('welcome').hidden = false;
  scroll.scrollTop = 0;
  prompt.focus();
});
byId('files').addEventListener('change', async ({ target }) => {
  await attach(target.files);
  target.value = '';
});
prompt.addEventListener('paste', (event) => {
  if (choice?.vision && event.clipboardData.files.length > 0) attach(event.clipboardData.files);
});
scroll.addEventListener('scroll', () => {
  byId('to-end').hidden = atEnd();
});
byId('to-end').addEventListener('click', toEnd);
addEventListener('pagehide', saveChat);

byId('base-url').textContent = `${location.origin}/v1`;
for (const button of document.querySelectorAll('[data-copy]')) {
  copies(button, () => byId(button.dataset.copy).textContent);
}
for (const message of chat.messages) addView(message).finish?.();
if (chat.messages.length > 0) toEnd();
if (matchMedia('(pointer: fine)').matches) prompt.focus();
await showCatalog();
