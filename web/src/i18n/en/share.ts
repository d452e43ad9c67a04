/** Sharing a chat, and the page on which others read it. */
export const share = {
  title: 'Share this chat',
  share: 'Share…',
  shared: 'Shared',
  explain:
    'Whoever has the link and can reach this server can read this chat, and sees it grow while you go on. Nobody else can change it. Files that you attached are not shown.',
  start: 'Make a link',
  link: 'Link',
  copy: 'Copy the link',
  open: 'Open the link',
  stop: 'Stop sharing',
  stopped: '“{title}” is no longer shared.',
  question: 'Question',
  reader: 'Shared chat',
  live: 'This page follows what is written there.',
  gone: 'This chat is not shared, or no longer.',
  ended: 'This chat is no longer shared. What was there is still to be read until you leave.',
  lost: 'The server does not answer. Trying again…',
  continue: 'Continue this chat',
  instructions: 'Instructions',
  notUpdated: 'The shared copy of “{title}” could not be brought up to date. {reason}',
};
