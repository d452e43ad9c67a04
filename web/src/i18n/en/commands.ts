export const commands = {
  chat: 'Chats',
  input: 'Writing',
  answer: 'Answers',
  page: 'Page',
};
