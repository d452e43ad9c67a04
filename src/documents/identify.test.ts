import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { identify } from './identify.ts';

const bytes = (latin1: string): Buffer => Buffer.from(latin1, 'latin1');
const PNG = bytes('\x89PNG\r\n\x1a\n');
const MP4 = bytes('\0\0\0\x20ftypisom');
const WEBM = bytes('\x1a\x45\xdf\xa3');
const OGG = bytes('OggS');

describe('what a file is', () => {
  const cases: readonly (readonly [name: string, head: Buffer, identity: object])[] = [
    ['photo.PNG', PNG, { kind: 'image', mimeType: 'image/png' }],
    ['photo.jpg', bytes('\xff\xd8\xff\xe0'), { kind: 'image', mimeType: 'image/jpeg' }],
    ['photo.gif', bytes('GIF89a'), { kind: 'image', mimeType: 'image/gif' }],
    ['photo.webp', bytes('RIFF\0\0\0\0WEBPVP8 '), { kind: 'image', mimeType: 'image/webp' }],
    // The bytes know better which image it is.
    ['photo.jpeg', PNG, { kind: 'image', mimeType: 'image/png' }],
    ['song.mp3', bytes('ID3\x04'), { kind: 'audio', mimeType: 'audio/mpeg' }],
    ['song.mp3', bytes('\xff\xfb\x90'), { kind: 'audio', mimeType: 'audio/mpeg' }],
    ['song.wav', bytes('RIFF\0\0\0\0WAVEfmt '), { kind: 'audio', mimeType: 'audio/wav' }],
    ['song.flac', bytes('fLaC'), { kind: 'audio', mimeType: 'audio/flac' }],
    ['song.opus', OGG, { kind: 'audio', mimeType: 'audio/opus' }],
    ['song.ogg', OGG, { kind: 'audio', mimeType: 'audio/ogg' }],
    ['song.m4a', MP4, { kind: 'audio', mimeType: 'audio/mp4' }],
    ['film.mp4', MP4, { kind: 'video', mimeType: 'video/mp4' }],
    ['film.mov', bytes('\0\0\0\x08wide'), { kind: 'video', mimeType: 'video/quicktime' }],
    ['film.ogv', OGG, { kind: 'video', mimeType: 'video/ogg' }],
    ['film.mkv', WEBM, { kind: 'video', mimeType: 'video/x-matroska' }],
    ['film.webm', WEBM, { kind: 'video', mimeType: 'video/webm' }],
    ['film.avi', bytes('RIFF\0\0\0\0AVI LIST'), { kind: 'video', mimeType: 'video/x-msvideo' }],
    ['film.mpeg', bytes('\0\0\x01\xba'), { kind: 'video', mimeType: 'video/mpeg' }],
    // The bytes know better which sound or film it is, too.
    ['song.m4a', bytes('ID3\x04'), { kind: 'audio', mimeType: 'audio/mpeg' }],
    ['song.wav', OGG, { kind: 'audio', mimeType: 'audio/ogg' }],
    ['film.webm', MP4, { kind: 'video', mimeType: 'video/mp4' }],
    ['a.pdf', bytes('%PDF-1.7'), { kind: 'pdf' }],
    ['a.pdf', bytes('junk before it\n%PDF-1.7'), { kind: 'pdf' }],
    ['a.docx', bytes('PK\x03\x04'), { kind: 'package' }],
    ['a.EPUB', bytes('PK\x03\x04'), { kind: 'package' }],
    ['a.zip', bytes('PK\x05\x06'), { kind: 'zip' }],
    ['a.HTML', bytes('<p>'), { kind: 'html' }],
    ['a.csv', bytes('a,b'), { kind: 'csv' }],
    ['a.ipynb', bytes('{}'), { kind: 'notebook' }],
    ['a.eml', bytes('Subject: a'), { kind: 'mail' }],
    ['a.rs', bytes('fn main() {}'), { kind: 'text' }],
    ['a.svg', bytes('<svg/>'), { kind: 'text' }],
    ['a.txt', bytes('<html>'), { kind: 'text' }],
    ['folder.d/Makefile', bytes('all:'), { kind: 'text' }],
    ['.gitignore', bytes('dist'), { kind: 'text' }],
    // The words of magic numbers are words.
    ['a.txt', bytes('ID3 tags and OggS'), { kind: 'text' }],
  ];
  for (const [name, head, identity] of cases) {
    test(`${name}: ${JSON.stringify(identity)}`, () => assert.deepEqual(identify(name, head), identity));
  }

  test('every text type of the contract, in any case', () => {
    const contract = 'txt xml json js har sh py php css yaml sql log twig md arc'.split(' ');
    for (const extension of [...contract, ...contract.map((each) => each.toUpperCase())]) {
      assert.deepEqual(identify(`a.${extension}`, bytes('a')), { kind: 'text' });
    }
  });
});

describe('a name that is not true', () => {
  const cases: readonly (readonly [name: string, head: Buffer, reason: RegExp])[] = [
    ['a.png', bytes('text'), /not an image/],
    ['a.png', bytes('%PDF-1.7'), /not an image/],
    ['a.gif', MP4, /not an image/],
    ['a.mp3', PNG, /not audio/],
    // UTF-16 begins almost like a frame.
    ['a.mp3', bytes('\xff\xfea\0'), /not audio/],
    ['a.wav', MP4, /not audio/],
    ['a.webm', OGG, /not video/],
    ['a.mp4', bytes('\0\0\0\x18ftypheic'), /not video/],
    ['a.pdf', PNG, /not a PDF/],
    ['a.docx', bytes('text'), /not a document/],
    ['a.xlsx', bytes('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1'), /password/],
    ['a.zip', bytes('Rar!\x1a\x07'), /not a zip/],
    ['a.exe', bytes('MZ'), /not supported: \.exe/],
    ['Package-Lock.json', bytes('{}'), /versions/],
    ['a.txt', bytes(''), /empty/],
  ];
  for (const [name, head, reason] of cases) {
    test(`${name}: ${reason.source}`, () => {
      assert.throws(() => identify(name, head), { name: 'Refusal', message: reason });
    });
  }
});
