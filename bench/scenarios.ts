import { setTimeout as sleep } from 'node:timers/promises';
import { ENDLESS, FLAT, FLAT_CHUNKS, JSON_1KB, JSON_2MB, PER_SECOND, pacedModel, SLOW, SLOW_MODEL } from './asked.ts';
import { cpuMicros, getText, type Running, residentMiB } from './gateway.ts';
import { ask, BESIDE, cpuOf, type Lane, type LaneName, type Scenario, type Size } from './lanes.ts';
import { closedLoop, openLoop, pacedLoop, percentile, withStreams } from './load.ts';
import { atOnce, beside, crowd, firstPiece, halfOpen, killed } from './under-stress.ts';

const LATENCY_PER_SECOND = 200;

/** How often a round of equal requests goes from lane to lane: what else the machine does meets all of them alike. */
const TURNS = 4;

/** A scenario of `count` equal requests a round: CPU per unit, of which each request has `units`, and requests a second. */
function repeated(
  name: string,
  lanes: readonly LaneName[],
  shape: {
    model: string;
    promptBytes: number;
    concurrency: number;
    units: number;
    count: (size: Size) => number;
    /** How often that many for warming up; absent: once. */
    warmUps?: number;
  },
): Scenario {
  const send = (lane: Lane, count: number): Promise<void> => {
    const asked = ask(lane, lane.gateway, shape.model, shape.promptBytes);
    return closedLoop(lane.gateway.port, asked, shape.concurrency, count);
  };
  return {
    name,
    lanes,
    turns: TURNS,
    warmUp: (lane, { size }) => send(lane, shape.count(size) * (shape.warmUps ?? 1)),
    run: async (lane, { size }) => {
      const count = shape.count(size) / TURNS;
      let seconds = 0;
      const cpu = await cpuOf(lane, async () => {
        const began = performance.now();
        await send(lane, count);
        seconds = (performance.now() - began) / 1000;
      });
      return { cpu: cpu / count / shape.units, perSecond: count / seconds };
    },
  };
}

/** Memory of a process before its first thousand streams: it does not give everything back after them. */
const before = new Map<number, number>();

const paced: Scenario = {
  name: 'paced',
  lanes: ['bare', 'sluice', 'typed', ...BESIDE],
  run: async (lane, { size }) => {
    const { pid, port } = lane.gateway;
    const idle = before.get(pid) ?? residentMiB(pid);
    before.set(pid, idle);
    const samples: { cpu: number; memory: number }[] = [];
    const result = await pacedLoop(
      port,
      ask(lane, lane.gateway, pacedModel(size), 1024),
      { streams: size.pacedStreams, chunks: size.pacedChunks, perSecond: PER_SECOND },
      () => samples.push({ cpu: cpuMicros(pid), memory: residentMiB(pid) }),
    );
    const [first = { cpu: 0, memory: 0 }, last = first] = samples;
    const memory = Math.max(first.memory, last.memory);
    return {
      cpu: (last.cpu - first.cpu) / result.chunks,
      pace: result.pace,
      gap: result.worstGap,
      memory,
      perStream: ((memory - idle) * 1024) / size.pacedStreams,
    };
  },
};

/** Memory that slow streams take, in a process that has done nothing else. */
const slow: Scenario = {
  name: 'slow',
  lanes: ['bare', 'sluice', ...BESIDE],
  run: async (lane, { size }) => {
    const fresh = await lane.another();
    try {
      const memoryWith = async (streams: number): Promise<number> => {
        let most = 0;
        await pacedLoop(fresh.port, ask(lane, fresh, SLOW_MODEL, 1024), { streams, ...SLOW }, () => {
          most = Math.max(most, residentMiB(fresh.pid));
        });
        return most;
      };
      return { memory: await memoryWith(size.slowStreams), memoryOfTwice: await memoryWith(2 * size.slowStreams) };
    } finally {
      await fresh.stop();
    }
  },
};

const latency: Scenario = {
  name: 'latency',
  lanes: ['bare', 'sluice', ...BESIDE],
  warmUp: (lane, { size }) => closedLoop(lane.gateway.port, ask(lane, lane.gateway, JSON_1KB, 1024), 16, size.requests),
  run: async (lane, { mock, size }) => {
    const through = (gateway: Running): Promise<number[]> =>
      openLoop(gateway.port, ask(lane, gateway, JSON_1KB, 1024), LATENCY_PER_SECOND, size.latencyRequests);
    const direct = await through(mock);
    const times = await through(lane.gateway);
    return {
      p50: percentile(times, 50) - percentile(direct, 50),
      p99: percentile(times, 99) - percentile(direct, 99),
    };
  },
};

const start: Scenario = {
  name: 'start',
  lanes: ['bare', 'sluice', ...BESIDE],
  run: async (lane, { size }) => {
    const fresh = await lane.another();
    try {
      await sleep(size.settleMs);
      return { ms: fresh.startMs, memory: residentMiB(fresh.pid) };
    } finally {
      await fresh.stop();
    }
  },
};

async function mockStats(mock: Running): Promise<{ connections: number; requests: number; streams: number }> {
  return JSON.parse((await getText(mock.port, '/stats')).body);
}

const leftover: Scenario = {
  name: 'leftover',
  lanes: ['bare', 'sluice', 'typed'],
  run: async (lane, { mock, size }) => {
    const { port } = lane.gateway;
    await withStreams(port, ask(lane, lane.gateway, ENDLESS, 100), size.leavers, async () => {});
    await sleep(1000);
    return { streams: (await mockStats(mock)).streams };
  },
};

const connections: Scenario = {
  name: 'connections',
  lanes: ['bare', 'sluice'],
  run: async (lane, { mock, size }) => {
    const { port } = lane.gateway;
    const before = await mockStats(mock);
    await closedLoop(port, ask(lane, lane.gateway, JSON_1KB, 1024), 16, size.requests);
    const after = await mockStats(mock);
    // The two looks at the statistics are connections too; the second one is in its own answer.
    return { perRequest: (after.connections - before.connections - 1) / (after.requests - before.requests) };
  },
};

/** In the order in which they are measured. */
export const SCENARIOS: readonly Scenario[] = [
  start,
  repeated('json', ['bare', 'sluice', 'plain', 'models', 'records', ...BESIDE], {
    model: JSON_1KB,
    promptBytes: 1024,
    concurrency: 16,
    units: 1,
    count: (size) => size.requests,
    // V8 optimises until some 20,000 requests have come, and later ones show what a request costs.
    warmUps: 3,
  }),
  repeated('flat', ['bare', 'sluice', 'typed', 'vendor', ...BESIDE], {
    model: FLAT,
    promptBytes: 1024,
    concurrency: 4,
    units: FLAT_CHUNKS,
    count: (size) => size.flatStreams,
  }),
  repeated('prompt', ['bare', 'sluice', ...BESIDE], {
    model: JSON_1KB,
    promptBytes: 200 * 1024,
    concurrency: 4,
    units: 1,
    count: (size) => size.bigPrompts,
  }),
  repeated('answer', ['bare', 'sluice', ...BESIDE], {
    model: JSON_2MB,
    promptBytes: 1024,
    concurrency: 4,
    units: 1,
    count: (size) => size.bigAnswers,
  }),
  paced,
  slow,
  latency,
  leftover,
  connections,
  firstPiece,
  atOnce,
  beside,
  halfOpen,
  crowd,
  killed,
];
