import {
  type ListeningScript,
  type ListeningUpstream,
  silence,
  startListeningUpstream,
} from '../support/listening-upstream.ts';
import { type AcmeWorld, openAcme, type Told } from './acme-world.ts';

export interface World extends Omit<AcmeWorld<ListeningUpstream>, 'post'> {
  post(fields: Fields, path?: string): Promise<Told>;
}

export type Fields = Readonly<Record<string, string | Blob | readonly string[]>>;

export const WAV = silence();

export function wav(): Blob {
  return new Blob([new Uint8Array(WAV)], { type: 'audio/wav' });
}

export async function world(script?: ListeningScript, more = ''): Promise<World> {
  const acme = await openAcme(await startListeningUpstream(script), more);
  return {
    ...acme,
    post(fields, path = '/v1/audio/transcriptions') {
      const body = new FormData();
      for (const [name, value] of Object.entries(fields)) {
        for (const each of Array.isArray(value) ? value : [value]) {
          if (typeof each === 'string') body.append(name, each);
          else body.append(name, each as Blob, 'anything.wav');
        }
      }
      return acme.post(path, { body });
    },
  };
}
