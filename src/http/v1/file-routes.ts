import type { Deps, Route } from '../deps.ts';
import {
  deleteFile as deleteGeminiFile,
  getFile as getGeminiFile,
  listFiles as listGeminiFiles,
} from '../gemini/files.ts';
import { forGoogleClients } from '../gemini/models.ts';
import { SERVED } from '../media/serve.ts';
import { deleteUploadedFile, listFileMetadata, retrieveFileMetadata, uploadFile } from '../messages/files.ts';
import { forAnthropicClients } from '../messages/models.ts';
import { withVariant } from '../variant.ts';
import {
  createFile,
  DeletedFile,
  deleteFile,
  FileForm,
  FileList,
  FileObject,
  FileQuery,
  fileContent,
  listFiles,
  retrieveFile,
} from './files.ts';

/** Files that are sent once, and referred to by their ids: in OpenAI's form, in Anthropic's, and in Google's. */
export function fileRoutes(deps: Deps): readonly Route[] {
  const one = { tag: 'Files', url: '/v1/files/:id', answer: FileObject } as const;
  return [
    withVariant(
      {
        ...one,
        method: 'POST',
        url: '/v1/files',
        summary: 'Keep a file that messages may refer to',
        form: FileForm,
        handler: createFile(deps),
      },
      forAnthropicClients(uploadFile(deps)),
    ),
    withVariant(
      {
        ...one,
        method: 'GET',
        url: '/v1/files',
        summary: 'The files that are kept, page by page',
        query: FileQuery,
        answer: FileList,
        handler: listFiles(deps),
      },
      forAnthropicClients(listFileMetadata(deps)),
      forGoogleClients(listGeminiFiles(deps)),
    ),
    withVariant(
      { ...one, method: 'GET', summary: 'What is known of a file', handler: retrieveFile(deps) },
      forAnthropicClients(retrieveFileMetadata(deps)),
      forGoogleClients(getGeminiFile(deps)),
    ),
    withVariant(
      { ...one, method: 'DELETE', summary: 'Delete a file', answer: DeletedFile, handler: deleteFile(deps) },
      forAnthropicClients(deleteUploadedFile(deps)),
      forGoogleClients(deleteGeminiFile(deps)),
    ),
    withVariant(
      {
        method: 'GET',
        tag: 'Files',
        url: '/v1/files/:id/content',
        summary: 'The bytes of a file',
        produces: ['application/octet-stream'],
        ...SERVED,
        handler: fileContent(deps),
      },
      forAnthropicClients(fileContent(deps)),
    ),
  ];
}
