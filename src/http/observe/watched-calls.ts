import type { CallScope } from '../../core/call.ts';
import type { Observer } from '../../observe/observer.ts';
import { Calls } from '../edge/calls.ts';

/** The running answers, each of which is observed until its end. */
export class WatchedCalls extends Calls {
  readonly #observer: Observer;

  constructor(limits: ConstructorParameters<typeof Calls>[0], observer: Observer) {
    super(limits);
    this.#observer = observer;
  }

  override enter(call: CallScope, address: string): () => void {
    const leave = super.enter(call, address);
    const isOver = this.#observer.entered(call);
    return () => {
      leave();
      isOver();
    };
  }
}
