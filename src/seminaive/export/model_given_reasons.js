// reasons(row, n, reference): the n columns that speak most for, and against, the most probable class,
// compared with a reference row, or with the mean of training. base, all log odds and rest add up to logOdds,
// the sum before unknown cells are allowed for.
function reasons(row, n = 3, reference = null) {
  checkNames(row);
  const parts = contributions(row), scores = scoresOf(parts);
  const [target, other] = firstTwo(attenuated(scores, row));
  let base = logOdds(MODEL.intercept, target, other), shares;
  if (reference === null) {
    shares = sharesFromMean(row, target, other);
  } else {
    checkNames(reference);
    for (const part of contributions(reference)) base += logOdds(part.values, target, other);
    shares = sharesFromRow(row, reference, target, other);
  }
  const every = shares.map((v, i) => ({i, v})).sort((a, b) => Math.abs(b.v) - Math.abs(a.v));
  const named = (list, side) => list.slice(0, n).map(e => {
    const c = MODEL.columns[e.i], value = cellText(c, cellOf(row, c, e.i)), label = MODEL.classes[target];
    const words = c.name + " " + value + ": " + oddsFactor(e.v) + " times the odds " + side + " " + label;
    return {column: c.name, value, logOdds: e.v, words};
  });
  const speakFor = named(every.filter(e => e.v > 0), "for");
  const speakAgainst = named(every.filter(e => e.v < 0), "against");
  const rest = [...every.filter(e => e.v > 0).slice(n), ...every.filter(e => e.v < 0).slice(n)];
  return {
    target: MODEL.classes[target], against: MODEL.classes[other], base,
    logOdds: scores[target] - scores[other], speakFor, speakAgainst,
    rest: rest.reduce((sum, e) => sum + e.v, 0),
  };
}
