// Probabilities of a %(model)s of seminaive. Needs nothing else; runs in browsers and Node.
// predictProba(row): row is an object by column name, or an array of cells in training order; null: missing.
const seminaive = (() => {
"use strict";
const MODEL = %(document)s;
%(core)s
function checkNames(row) {
  if (Array.isArray(row)) return;
  for (const c of MODEL.columns) {
    if (c.kind !== "ignored" && !(c.name in row)) throw new Error("the row lacks " + c.name);
  }
}
function predictProba(row) {
  checkNames(row);
  return probabilities(contributions(row), row);
}%(reasons)s
return {classes: MODEL.classes, predictProba%(names)s};
})();
if (typeof module !== "undefined") module.exports = seminaive;
