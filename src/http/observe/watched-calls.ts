import type { CallScope } from '../../core/call.ts';
import type { Observer } from '../../observe/observer.ts';
import { Calls, type Leave } from '../edge/calls.ts';
import type { Places } from '../edge/places.ts';

/** The running answers, each of which is observed until its end. */
export class WatchedCalls extends Calls {
  readonly #observer: Observer;

  constructor(places: Places, observer: Observer) {
    super(places);
    this.#observer = observer;
  }

  protected override begin(call: CallScope, client: string | undefined): Leave {
    const leave = super.begin(call, client);
    const isOver = this.#observer.entered(call);
    return () => {
      leave();
      isOver();
    };
  }
}
