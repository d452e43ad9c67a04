/**
 * For questions that may be asked anew while an earlier answer is on its way: each call asks one, and returns whether its answer
 * still counts, to be called when that is there. None does once a later question was answered.
 */
export function inOrder(): () => () => boolean {
  let asked = 0;
  let answered = 0;
  return () => {
    asked += 1;
    const turn = asked;
    return () => {
      if (turn < answered) return false;
      answered = turn;
      return true;
    };
  };
}
