/** A script that gives the page a recognition of speech, `listening` while it listens, that understands nothing by itself. */
export const LISTENS = `globalThis.SpeechRecognition = globalThis.webkitSpeechRecognition = class extends EventTarget {
  start() {
    globalThis.listening = this;
  }
  stop() {
    this.dispatchEvent(new Event('end'));
  }
  abort() {
    this.stop();
  }
};`;
