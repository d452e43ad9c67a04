/** Titles of groups in the list of keys; each is the `group` of a command. */
export const commands = {
  chat: 'Chats',
  input: 'Writing',
  answer: 'Answers',
  page: 'Page',
};
