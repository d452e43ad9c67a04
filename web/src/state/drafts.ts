import type { FilePart } from './model.ts';

/** A file that is being taken in by the server. */
export interface Attachment {
  readonly id: string;
  readonly name: string;
  readonly size: number;
  readonly mimeType: string;
  /** uploading: on its way to the server; converting: the server makes text of it. */
  readonly phase: 'uploading' | 'converting' | 'ready' | 'failed';
  /** Of the upload, 0 to 1. */
  readonly progress?: number;
  /** Bytes of text so far. */
  readonly textSize?: number;
  readonly problem?: string | undefined;
  /** What failed for a reason that passes, to be sent again. */
  readonly file?: File | undefined;
  readonly part?: FilePart;
  /** Own address of a picture to show; `blob:` while it is on its way. */
  readonly preview?: string | undefined;
}

/** What is being written, by chat; of a new chat under the empty name, and elsewhere under the names that `use-draft.ts` gives. */
export interface Draft {
  readonly text: string;
  readonly attachments: readonly Attachment[];
}

/** By the chat's id, or by the other names of `Draft`. */
export type DraftsState = Readonly<Record<string, Draft>>;

/** `chat`: the name of a draft, see `Draft`. */
export type DraftsAction =
  | { readonly type: 'drafts/loaded'; readonly drafts: DraftsState }
  /** From another tab; without a draft it is empty there. */
  | { readonly type: 'drafts/taken'; readonly chat: string; readonly draft?: Draft }
  | { readonly type: 'drafts/text'; readonly chat: string; readonly text: string }
  | { readonly type: 'drafts/attached'; readonly chat: string; readonly attachment: Attachment }
  | {
      readonly type: 'drafts/attachment';
      readonly chat: string;
      readonly id: string;
      readonly change: Partial<Attachment>;
    }
  | { readonly type: 'drafts/detached'; readonly chat: string; readonly id: string }
  /** `andWithin`: also what is written anew of its messages. */
  | { readonly type: 'drafts/cleared'; readonly chat: string; readonly andWithin?: true };

/** Where nothing was written yet. */
export const emptyDraft: Draft = { text: '', attachments: [] };

/** What this tab has wins over what was kept: `loaded` only adds. */
export function reduceDrafts(state: DraftsState, action: DraftsAction): DraftsState {
  switch (action.type) {
    case 'drafts/loaded':
      return { ...action.drafts, ...state };
    case 'drafts/taken':
      return change(state, action.chat, ({ attachments }) => {
        const { text, attachments: ready } = action.draft ?? emptyDraft;
        return { text, attachments: [...ready, ...attachments.filter(({ phase }) => phase !== 'ready')] };
      });
    case 'drafts/text':
      return change(state, action.chat, (draft) => ({ ...draft, text: action.text }));
    case 'drafts/attached':
      return change(state, action.chat, (draft) => ({
        ...draft,
        attachments: [...draft.attachments, action.attachment],
      }));
    case 'drafts/attachment':
      return change(state, action.chat, (draft) => ({
        ...draft,
        attachments: draft.attachments.map((each) => (each.id === action.id ? { ...each, ...action.change } : each)),
      }));
    case 'drafts/detached':
      return change(state, action.chat, (draft) => ({
        ...draft,
        attachments: draft.attachments.filter(({ id }) => id !== action.id),
      }));
    case 'drafts/cleared': {
      const isCleared = (name: string): boolean =>
        action.andWithin ? isDraftOf(name, action.chat) : name === action.chat;
      return Object.fromEntries(Object.entries(state).filter(([name]) => !isCleared(name)));
    }
  }
}

/** Whether a draft is that of `chat`, or of something in it. */
export function isDraftOf(name: string, chat: string): boolean {
  return name === chat || (chat !== '' && name.startsWith(`${chat}/`));
}

/** Whether a draft is not that of a message, which is its text, but of some form (`use-draft.ts`), whose fields are in it as JSON. */
export function isOfForm(name: string): boolean {
  return name.includes('/');
}

function change(state: DraftsState, chat: string, update: (draft: Draft) => Draft): DraftsState {
  return { ...state, [chat]: update(state[chat] ?? emptyDraft) };
}

/** Whether some are on their way. */
export function isTaking(attachments: readonly Attachment[]): boolean {
  return attachments.some(({ phase }) => phase === 'uploading' || phase === 'converting');
}

/** A draft as it may be kept over a reload, if anything of it may: uploads that were not over are gone with the page. */
export function keepable({ text, attachments }: Draft = emptyDraft): Draft | undefined {
  const ready = attachments
    .filter(({ phase }) => phase === 'ready')
    .map(({ preview, ...rest }) =>
      preview === undefined || preview.startsWith('blob:') ? rest : { ...rest, preview },
    );
  return text === '' && ready.length === 0 ? undefined : { text, attachments: ready };
}
