function firstTwo(scores) {
  let target = 0;
  scores.forEach((s, k) => { if (s > scores[target]) target = k; });
  let other = target === 0 ? 1 : 0;
  scores.forEach((s, k) => { if (k !== target && s > scores[other]) other = k; });
  return [target, other];
}
const logOdds = (v, target, other) => v.length > 1 ? v[target] - v[other] : target === 1 ? v[0] : -v[0];
function sharesFromMean(row, target, other) {
  const shares = MODEL.columns.map(() => 0);
  for (const part of contributions(row)) {
    for (const i of part.columns) shares[i] += logOdds(part.values, target, other) / part.columns.length;
  }
  return shares;
}
function sharesFromRow(row, reference, target, other) {
  const here = placesOf(row), there = placesOf(reference);
  const odds = values => values === undefined ? 0 : logOdds(values, target, other);
  const shares = MODEL.columns.map((c, i) =>
    odds(alone(c, cellOf(row, c, i), here[i].code))
      - odds(alone(c, cellOf(reference, c, i), there[i].code)));
  for (const t of MODEL.tuples) {
    const n = t.columns.length, values = [], taken = m => t.columns.filter((_, a) => m >> a & 1).length;
    if (t.columns.every(i => isSame(here[i], there[i]))) continue;
    for (let m = 0; m < 1 << n; m++) {
      const mixed = [];
      t.columns.forEach((i, a) => { mixed[i] = (m >> a & 1 ? here : there)[i]; });
      values.push(odds(together(t, mixed)));
    }
    t.columns.forEach((i, a) => {
      for (let m = 0; m < 1 << n; m++) {
        if (m >> a & 1) continue;
        let ways = n;
        for (let k = 1; k <= taken(m); k++) ways *= (n - k) / k;
        shares[i] += (values[m | 1 << a] - values[m]) / ways;
      }
    });
  }
  return shares;
}
function oddsFactor(v) {
  const f = Math.exp(Math.abs(v));
  return f < 1.095 ? f.toFixed(2) : f < 9.95 ? f.toFixed(1) : f < 999.5 ? f.toFixed(0) : "more than 1,000";
}
function cellText(c, cell) {
  if (isMissing(cell)) return "missing";
  if (c.kind === "category") {
    const code = c.code.get(key(cell));
    return code === undefined ? "unseen" : String(c.categories[code]);
  }
  if (c.written && c.written.standard) return dateText(cell);
  if (Number.isInteger(cell) && Math.abs(cell) >= 10000) return cell.toLocaleString("en-US");
  return String(Number(cell.toPrecision(6)));
}
