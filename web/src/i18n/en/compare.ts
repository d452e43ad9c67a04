/** Two models beside each other. */
export const compare = {
  title: 'Compare',
  hint: 'Ask once, and both models answer. Go on with the one that you like better.',
  side: 'Model {at}',
  alike: 'Both sides are the same model, which answers twice.',
  goOn: 'Go on with this one',
  again: 'New comparison',
  thisAnswer: 'Compare with another model',
};
