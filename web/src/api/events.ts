/** One event of an event stream: its data, and its id when it has one. */
export interface StreamEvent {
  readonly id?: number;
  readonly data: string;
}

/** Takes an event stream apart, however it is cut: https://html.spec.whatwg.org/multipage/server-sent-events.html */
export class EventDecoder {
  #rest = '';
  #data: string[] = [];
  #id: number | undefined;

  /** The events that `text` completes. */
  take(text: string): StreamEvent[] {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    const events: StreamEvent[] = [];
    for (const ended of lines) {
      const line = ended.endsWith('\r') ? ended.slice(0, -1) : ended;
      if (line === '') {
        if (this.#data.length > 0) {
          const data = this.#data.join('\n');
          events.push(this.#id === undefined ? { data } : { data, id: this.#id });
        }
        this.#data = [];
        this.#id = undefined;
        continue;
      }
      const colon = line.indexOf(':');
      if (colon === 0) continue;
      const field = colon === -1 ? line : line.slice(0, colon);
      const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
      if (field === 'data') this.#data.push(value);
      else if (field === 'id' && /^\d+$/.test(value)) this.#id = Number(value);
    }
    return events;
  }
}
