import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { notebookToMarkdown } from './notebook.ts';

describe('notebooks', () => {
  test('of the older format', () => {
    const cells = [
      { cell_type: 'heading', level: 2, source: 'Title' },
      { cell_type: 'code', input: ['1 + 1'], outputs: [{ output_type: 'pyout', text: ['2'] }] },
    ];
    const notebook = { nbformat: 3, worksheets: [{ cells }] };
    assert.equal(
      notebookToMarkdown(JSON.stringify(notebook)),
      '## Title\n\n```python\n1 + 1\n```\n\n```text\n2\n```\n',
    );
  });

  test('in another language, with code that holds fences', () => {
    const notebook = {
      nbformat: 4,
      metadata: { kernelspec: { language: 'julia' } },
      cells: [{ cell_type: 'code', source: '```' }],
    };
    assert.equal(notebookToMarkdown(JSON.stringify(notebook)), '````julia\n```\n````\n');
  });

  test('what was written over is gone, and what cannot be shown is named', () => {
    const outputs = [
      { output_type: 'stream', text: ['10%\r50%\r100%\r\n', 'a\rdone\r'] },
      { output_type: 'display_data', data: { 'text/latex': ['$x^2$'] } },
      { output_type: 'display_data', data: { 'text/html': '<b>only</b>' } },
      { output_type: 'display_data', data: { 'text/html': '<img src="data:…">', 'image/png': 'iVBORw0KGgo=' } },
    ];
    assert.equal(
      notebookToMarkdown(JSON.stringify({ nbformat: 4, cells: [{ cell_type: 'code', source: '1', outputs }] })),
      '```python\n1\n```\n\n```text\n100%\ndone\n```\n\n$x^2$\n\n*(text/html)*\n\n*(image/png)*\n',
    );
  });

  test('with members of the wrong type', () => {
    const odd = {
      nbformat: 4,
      metadata: 7,
      cells: [
        null,
        3,
        { cell_type: 'code', source: 5, outputs: { data: [] } },
        { cell_type: 'markdown', source: ['ok'] },
      ],
    };
    assert.equal(notebookToMarkdown(JSON.stringify(odd)), 'ok\n');
  });

  for (const text of ['', '[]', '{}', 'null', '{"a":1}', '<p>']) {
    test(`${JSON.stringify(text)} is none`, () => assert.throws(() => notebookToMarkdown(text), { name: 'Refusal' }));
  }
});
