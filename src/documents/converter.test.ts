import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { text, zip } from '../../test/fixtures/documents/hostile.ts';
import { childrenOf } from '../../test/fixtures/documents/memory-watch.ts';
import { testLogger } from '../../test/support/call.ts';
import { eventually } from '../../test/support/eventually.ts';
import { DEFAULT_LIMITS } from './conversion.ts';
import { type Converter, type ConverterOptions, createConverter } from './converter.ts';
import { WORKER_FLAGS } from './worker-process.ts';

const FIXTURES = path.join(import.meta.dirname, '../../test/fixtures/documents');
const fixture = (name: string): { name: string; bytes: Buffer } => ({
  name,
  bytes: readFileSync(path.join(FIXTURES, name)),
});
/** Keeps a worker busy for seconds. */
const SLOW = { name: 'slow.html', bytes: Buffer.from('<p>word <b>bold</b> <a href="/a">link</a></p>'.repeat(20_000)) };
/** Keeps it busy for minutes: what a page takes grows with its depth, of which all is used that is allowed, times its length. */
const ENDLESS = {
  name: 'endless.html',
  bytes: Buffer.from('<div>'.repeat(500) + '<p>word</p>'.repeat(1_000_000)),
};
const LINUX = { skip: process.platform === 'linux' ? false : 'needs /proc' };

async function using(options: ConverterOptions, use: (converter: Converter) => Promise<void>): Promise<void> {
  const converter = createConverter(options);
  try {
    await use(converter);
  } finally {
    await converter.close();
  }
}

const workers = (): number[] => childrenOf(process.pid);

describe('limits', () => {
  test('what takes too long ends, and the next file does not notice', async () => {
    const log = testLogger();
    // Its memory grows all the time, and is not to be over first.
    const limits = { ...DEFAULT_LIMITS, timeMs: 10_000, memoryBytes: 2 * 1024 * 1024 * 1024 };
    await using({ workers: 1, limits: () => limits, log }, async (converter) => {
      const [slow, next] = await Promise.all([converter.convert(ENDLESS), converter.convert(fixture('calc.csv'))]);
      assert.deepEqual(slow, { kind: 'rejected', reason: 'took too long to read', isOverLimit: true });
      assert.equal(next.kind, 'markdown');
      assert.deepEqual(log.lines, []);
    });
  });

  test('what needs too much memory ends', async () => {
    await using({ limits: () => ({ ...DEFAULT_LIMITS, memoryBytes: 160 * 1024 * 1024 }) }, async (converter) => {
      assert.deepEqual(await converter.convert(SLOW), {
        kind: 'rejected',
        reason: 'needs too much memory',
        isOverLimit: true,
      });
      assert.equal((await converter.convert(fixture('calc.csv'))).kind, 'markdown');
    });
  });

  test('those of the operator count', async () => {
    await using({ limits: () => ({ ...DEFAULT_LIMITS, entries: 1, pixels: 10 }) }, async (converter) => {
      const two = await converter.convert({ name: 'a.zip', bytes: zip([text('a.txt', 'a'), text('b.txt', 'b')]) });
      assert.deepEqual(two, { kind: 'rejected', reason: 'holds 2 files; at most 1 are unpacked', isOverLimit: true });
    });
  });
});

describe('a worker', () => {
  test('that is killed takes nothing along', LINUX, async () => {
    const log = testLogger();
    await using({ workers: 1, log }, async (converter) => {
      await converter.convert(fixture('calc.csv'));
      const slow = converter.convert(ENDLESS);
      const next = converter.convert(fixture('calc.csv'));
      await eventually('a worker is there', () => workers().length === 1);
      process.kill(workers()[0] ?? 0, 'SIGSEGV');
      assert.deepEqual(await slow, { kind: 'rejected', reason: 'could not be read: the converter failed on it' });
      assert.equal((await next).kind, 'markdown');
      assert.deepEqual(
        log.lines.map(({ level, message }) => [level, message]),
        [['warn', 'a file crashed the converter']],
      );
    });
  });

  test('that cannot be started is no fault of the file, and is tried anew with the next', LINUX, () => {
    const script = `
      import { closeSync, openSync } from 'node:fs';
      import { createConverter } from ${JSON.stringify(new URL('./converter.ts', import.meta.url))};
      const table = { name: 'a.csv', bytes: Buffer.from('a,b\\n1,2') };
      const converter = createConverter();
      const taken = [];
      try {
        for (;;) taken.push(openSync('/dev/null'));
      } catch {}
      const first = await converter.convert(table).catch(({ code, status }) => ({ code, status }));
      for (const descriptor of taken) closeSync(descriptor);
      const next = await converter.convert(table);
      await converter.close();
      console.log(JSON.stringify([first, next.kind]));`;
    const words = ['-c', 'ulimit -n 100 && exec "$0" "$@"', process.execPath, '--input-type=module', '-e', script];
    const { stdout, stderr } = spawnSync('sh', words, { encoding: 'utf8' });
    assert.equal(stdout, '[{"code":"overloaded","status":503},"markdown"]\n', stderr);
  });

  test('starts with the first document and ends when there are no more', LINUX, async () => {
    await using({ idleMs: 50 }, async (converter) => {
      assert.deepEqual(workers(), []);
      await converter.convert(fixture('calc.csv'));
      await eventually('no worker is left', () => workers().length === 0);
      assert.equal((await converter.convert(fixture('calc.csv'))).kind, 'markdown');
    });
  });

  test('is used again', LINUX, async () => {
    await using({ workers: 2 }, async (converter) => {
      const seen = new Set<number>();
      for (let count = 0; count < 5; count += 1) {
        await converter.convert(fixture('calc.csv'));
        for (const pid of workers()) seen.add(pid);
      }
      assert.equal(seen.size, 1);
    });
  });

  test('can write no file, start no program, reach nobody, and knows no secrets', LINUX, async () => {
    const attempts = `
      const results = [];
      for (const attempt of [
        () => require('node:fs').writeFileSync('/tmp/sluice-attempt', ''),
        () => require('node:child_process').execSync('true'),
        () => new Promise((resolve, reject) => require('node:net').connect(9, '127.0.0.1').on('error', reject)),
      ]) Promise.resolve().then(attempt).then(() => 'done', (error) => error.code).then((each) => console.log(each));`;
    const output = execFileSync(process.execPath, [...WORKER_FLAGS, '-e', attempts], { encoding: 'utf8' });
    // Node 24 has no permission for the network yet, so there nobody answers.
    const hasNetwork = Number.parseInt(process.versions.node, 10) < 25;
    const expected = ['ERR_ACCESS_DENIED', 'ERR_ACCESS_DENIED', hasNetwork ? 'ECONNREFUSED' : 'ERR_ACCESS_DENIED'];
    assert.deepEqual(output.trim().split('\n').sort(), expected.sort());

    process.env['SLUICE_TEST_SECRET'] = 'planted';
    try {
      await using({}, async (converter) => {
        await converter.convert(fixture('calc.csv'));
        assert.ok(!readFileSync(`/proc/${workers()[0]}/environ`, 'utf8').includes('planted'));
      });
    } finally {
      delete process.env['SLUICE_TEST_SECRET'];
    }
  });
});

describe('waiting', () => {
  test('a slow document holds nobody else up', async () => {
    await using({ workers: 2 }, async (converter) => {
      const left = new AbortController();
      let isDone = false;
      const endless = assert.rejects(converter.convert(ENDLESS, { signal: left.signal }), { message: 'left' });
      void endless.then(() => {
        isDone = true;
      });
      assert.equal((await converter.convert(fixture('writer.docx'))).kind, 'markdown');
      assert.equal((await converter.convert({ name: 'a.txt', bytes: Buffer.from('a') })).kind, 'text');
      assert.equal(isDone, false);
      left.abort(new Error('left'));
      await endless;
      assert.equal((await converter.convert(SLOW)).kind, 'markdown');
    });
  });

  test('more files than workers: each gets its own answer', async () => {
    await using({ workers: 2 }, async (converter) => {
      const files = Array.from({ length: 20 }, (_, index) => ({
        name: `${index}.csv`,
        bytes: Buffer.from(`${index}`),
      }));
      const conversions = await Promise.all(files.map((file) => converter.convert(file)));
      assert.deepEqual(
        conversions.map((conversion) => (conversion as { text: string }).text.slice(0, 7)),
        files.map((_, index) => `| ${index} |\n| --- |`.slice(0, 7)),
      );
    });
  });

  test('who leaves gets his reason, whether his file was waiting or worked on', async () => {
    await using({ workers: 1 }, async (converter) => {
      const [first, second] = [new AbortController(), new AbortController()];
      const running = converter.convert(ENDLESS, { signal: first.signal });
      const waiting = converter.convert(ENDLESS, { signal: second.signal });
      second.abort(new Error('left early'));
      await assert.rejects(waiting, { message: 'left early' });
      first.abort(new Error('left'));
      await assert.rejects(running, { message: 'left' });
      assert.equal((await converter.convert(fixture('calc.csv'))).kind, 'markdown');
      await assert.rejects(converter.convert(ENDLESS, { signal: first.signal }), { message: 'left' });
    });
  });

  test('closing ends everything', LINUX, async () => {
    const converter = createConverter({ workers: 1 });
    const [running, waiting] = [converter.convert(ENDLESS), converter.convert(ENDLESS)];
    await eventually('a worker is there', () => workers().length === 1);
    const ended = [running, waiting].map((each) => assert.rejects(each, { code: 'shutting_down' }));
    await converter.close();
    await Promise.all(ended);
    await assert.rejects(converter.convert(ENDLESS), { code: 'shutting_down' });
    assert.deepEqual(workers(), []);
  });

  test('the members of an archive are told as they are done', async () => {
    await using({}, async (converter) => {
      const seen: string[] = [];
      const bytes = zip([text('a.txt', 'a'), text('b.md', 'b'), text('.c', 'c')]);
      await converter.convert(
        { name: 'a.zip', bytes },
        { onProgress: ({ name, done, total }) => seen.push(`${name} ${done}/${total}`) },
      );
      assert.deepEqual(seen, ['a.txt 1/2', 'b.md 2/2']);
    });
  });
});
