/** What went wrong and what to do about it, by kind; `views/chat/advice.ts` says which code is which. */
export const errors = {
  unreachable:
    'Sluice does not answer. Check your network connection, and in the terminal where you started Sluice whether it is still running, then try again.',
  back: 'Sluice did not answer, and is back now.',
  cut: 'The connection to Sluice broke off. Try again.',
  lost: 'The server no longer has the rest of this answer. Try again.',
  unauthorized: 'This server wants its access key: open the address that Sluice printed when it started.',
  key: 'The provider wants a key, or refuses the one it got. Enter one here, or put it into the environment or sluice.yaml.',
  keyless: 'The provider wants a key, but was set up without one. Add its apiKey in the server’s sluice.yaml.',
  cookies:
    'The provider wants cookies, or refuses those it got. Log in there with a browser, and upload its cookies in the settings.',
  credit:
    'There is no credit left with this provider. Top it up there, enter the key of another account, or choose another model.',
  otherModel: 'Nobody offers this model at the moment. Choose another one from the list above.',
  missing:
    'A file of this chat is no longer on the server. Edit the question that it went with, and take it out there.',
  notSupported: 'This model cannot do that. Choose another one from the list above.',
  tooLarge:
    'This is more than fits. Remove a file, or begin a new chat: the whole conversation is sent with each message.',
  rateLimited: 'The provider limits how often it may be asked. Wait a moment, or choose another model.',
  timeout: 'The provider took too long. Try again, or choose another model.',
  upstream: 'The provider cannot be reached, or its answer broke off. Try again, or choose another model.',
  overloaded: 'There is too much to do at the moment. Wait a little and try again.',
  refused: 'The model did not accept this request. Other settings, a new chat or another model often help.',
  storage: 'The server has no room left, or cannot write to its disk.',
  again: 'Try again; Sluice’s log says more.',
};
