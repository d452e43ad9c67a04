import type { Tools } from './hosts.ts';

/** Nothing is fetched from anywhere, whatever policy the page itself has. */
const POLICY =
  "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; font-src data:; " +
  "media-src data: blob:; form-action 'none'; base-uri 'none'";

/**
 * HTML of an answer, running where it can reach nothing: an origin of its own, no forms, no windows, no network. In a
 * `srcdoc` the policy of the page counts too, and takes its scripts and styles away; a page of the server that waits for
 * `{ html }` by `postMessage`, with a policy of its own, can let them run.
 */
export function previewFrame(html: string, { words, previewUrl }: Tools): HTMLIFrameElement {
  const frame = document.createElement('iframe');
  frame.className = 'markdown-preview';
  frame.setAttribute('sandbox', 'allow-scripts');
  frame.setAttribute('referrerpolicy', 'no-referrer');
  frame.setAttribute('allow', '');
  frame.title = words.preview;
  if (previewUrl === undefined) {
    frame.srcdoc = `<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${POLICY}">${html}`;
  } else {
    // Its origin is opaque, so there is no other name to send to; nothing in the message is secret.
    frame.addEventListener('load', () => frame.contentWindow?.postMessage({ html }, '*'), { once: true });
    frame.src = previewUrl;
  }
  return frame;
}
