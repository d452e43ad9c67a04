const CHAT = 'sluice.chat';
const CHOICE = 'sluice.choice';

function read(name) {
  try {
    return JSON.parse(localStorage.getItem(name));
  } catch {
    return null;
  }
}

/** randomUUID is missing on plain http addresses other than localhost. */
function uuid() {
  if (crypto.randomUUID) return crypto.randomUUID();
  const hex = [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-4$3-8$4-$5');
}

function emptyChat() {
  return { id: uuid(), messages: [], conversation: {} };
}

/** The one chat of this page. A message has role, text and either images or what is known about the answer. */
export let chat = read(CHAT) ?? emptyChat();

export function newChat() {
  chat = emptyChat();
  saveChat();
}

export function saveChat() {
  try {
    localStorage.setItem(CHAT, JSON.stringify(chat));
  } catch {
    // A browser keeps about 5 MB; the words are worth more than the pictures.
    const messages = chat.messages.map(({ images: _, ...message }) => message);
    try {
      localStorage.setItem(CHAT, JSON.stringify({ ...chat, messages }));
    } catch {
      localStorage.removeItem(CHAT);
    }
  }
}

export function loadChoice() {
  return read(CHOICE);
}

export function saveChoice(choice) {
  localStorage.setItem(CHOICE, JSON.stringify(choice));
}

/** Takes one chunk of an answer into the message. */
export function take(message, chunk) {
  switch (chunk.type) {
    case 'provider':
      message.from = { label: chunk.provider.label ?? chunk.provider.name, model: chunk.provider.model };
      break;
    case 'content':
      message.text +=
        chunk.urls && !chunk.data
          ? [chunk.urls]
              .flat()
              .map((url) => `\n\n![${chunk.alt ?? ''}](${url})\n\n`)
              .join('')
          : chunk.content;
      break;
    case 'reasoning':
      message.reasoning = (message.reasoning ?? '') + (chunk.token ?? '');
      break;
    case 'conversation':
      Object.assign(chat.conversation, chunk.conversation);
      break;
    case 'usage':
      message.usage = chunk.usage;
      break;
    case 'finish':
      message.finish = chunk.finish.reason;
      break;
    case 'error':
    case 'auth':
      message.error = { message: chunk.message, name: chunk[chunk.type], code: chunk.code };
      break;
  }
}

/** The messages as the gateway wants them. */
export function toRequest(messages) {
  return messages
    .filter((message) => message.text !== '' || message.images?.length)
    .map(({ role, text, images = [] }) => {
      if (images.length === 0) return { role, content: text };
      const parts = images.map((url) => ({ type: 'image_url', image_url: { url } }));
      return { role, content: text === '' ? parts : [{ type: 'text', text }, ...parts] };
    });
}
