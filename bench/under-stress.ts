/** Scenarios of docs/hardening.md: how a gateway answers while something else goes on. */
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { JSON_1KB, QUIET, SHORT } from './asked.ts';
import { ask, cpuOf, type Scenario } from './lanes.ts';
import { closedLoop, firstPieces, openLoop, percentile, timesWhile, withStreams } from './load.ts';

const MB = 1024 * 1024;
const LIGHT_EVERY_MS = 20;

/** L-4: how much later the first piece of a stream comes than without a gateway, one stream at a time. */
export const firstPiece: Scenario = {
  name: 'firstPiece',
  lanes: ['bare', 'sluice', 'typed'],
  run: async (lane, { mock }) => {
    const direct = await firstPieces(mock.port, ask({ ...lane, dialect: 'v1' }, mock, SHORT, 1024), 1, 10);
    const through = await firstPieces(lane.gateway.port, ask(lane, lane.gateway, SHORT, 1024), 1, 10);
    return { p50: percentile(through, 50) - percentile(direct, 50) };
  },
};

/** L-1: many streams begin in the same instant. */
export const atOnce: Scenario = {
  name: 'atOnce',
  lanes: ['bare', 'sluice', 'typed'],
  run: async (lane, { size }) => {
    const began = performance.now();
    const { port } = lane.gateway;
    const times = await firstPieces(port, ask(lane, lane.gateway, SHORT, 1024), size.streamsAtOnce, 1);
    return { p99: percentile(times, 99), seconds: (performance.now() - began) / 1000 };
  },
};

/** F-16: light requests while requests of 8 MB come, one long text and thousands of messages. */
export const beside: Scenario = {
  name: 'beside',
  lanes: ['bare', 'sluice'],
  run: async (lane, { size }) => {
    const { port } = lane.gateway;
    const light = ask(lane, lane.gateway, JSON_1KB, 1024);
    const times = await timesWhile(port, light, LIGHT_EVERY_MS, async () => {
      for (const messages of [1, 8000]) {
        await closedLoop(port, ask(lane, lane.gateway, JSON_1KB, 8 * MB, messages), 1, size.heavyRequests);
      }
    });
    return { worst: times.at(-1) ?? Number.NaN };
  },
};

/** F-17: light requests beside connections that stopped in the middle of their header. */
export const halfOpen: Scenario = {
  name: 'halfOpen',
  lanes: ['bare', 'sluice'],
  run: async (lane, { size }) => {
    const { port } = lane.gateway;
    const half = `POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nx-half: `;
    const sockets: Socket[] = [];
    try {
      for (let count = 0; count < size.halfOpen; count += 1) {
        const socket = connect(port, '127.0.0.1', () => socket.write(half));
        sockets.push(socket.on('error', () => {}));
      }
      await sleep(200);
      const times = await openLoop(port, ask(lane, lane.gateway, JSON_1KB, 1024), 200, size.latencyRequests);
      return { p99: percentile(times, 99) };
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  },
};

/** What a small request costs while thousands of streams are open, as a multiple of what it costs alone. */
export const crowd: Scenario = {
  name: 'crowd',
  lanes: ['bare', 'sluice'],
  run: async (lane, { size }) => {
    const { port } = lane.gateway;
    const small = ask(lane, lane.gateway, JSON_1KB, 1024);
    const work = (): Promise<void> => closedLoop(port, small, 16, size.requests);
    const alone = await cpuOf(lane, work);
    return withStreams(port, ask(lane, lane.gateway, QUIET, 1024), 2 * size.slowStreams, async () => ({
      times: (await cpuOf(lane, work)) / alone,
    }));
  },
};

/** D-2: a start after `kill -9`, with all that the data folder of that lane holds. */
export const killed: Scenario = {
  name: 'killed',
  lanes: ['records'],
  run: async (lane) => ({ ms: lane.gateway.startMs }),
};
