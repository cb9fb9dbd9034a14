// One request, two strategies, side by side.

import { newest, path } from "./api.js";
import { choice, el, fill } from "./dom.js";
import { list, verdict } from "./hits.js";
import { asking, question } from "./search.js";

const asks = [newest(), newest()];

export async function show(shared) {
  const names = shared.index.strategies;
  const sides = ["a", "b"].map((side, place) => {
    const usual = place ? (names.find((name) => name !== shared.index.strategy) ?? names[0]) : shared.index.strategy;
    return { side, strategy: () => shared.get(side) || usual, body: el("div", { "aria-live": "polite" }) };
  });
  const { field, changed } = asking(shared, () => compare(shared, sides));
  const columns = sides.map(({ side, strategy, body }) =>
    el("section.side", { "aria-label": `strategy ${side}` }, choice("Strategy", names.map((name) => [name, name]), strategy(), changed(side)), body),
  );
  return [field, el("div.sides", {}, columns)];
}

async function compare(shared, sides) {
  if (!shared.get("q").trim()) {
    for (const { body } of sides) fill(body, el("p.empty", {}, "Type a request to see what each strategy finds."));
    return;
  }
  try {
    const found = await Promise.all(
      sides.map(({ strategy }, place) => asks[place](path("search"), { body: question(shared, strategy()) })),
    );
    if (found.includes(null)) return;
    shared.fine();
    found.forEach((answer, place) => {
      const other = found[1 - place].hits.map((hit) => hit.id);
      fill(sides[place].body, verdict(answer), list(shared, answer.hits, { moved: (hit, rank) => moved(other.indexOf(hit.id) + 1, rank) }));
    });
  } catch (error) {
    for (const { body } of sides) fill(body);
    shared.fail(error);
  }
}

/** Where the tool stands on the other side. */
function moved(there, rank) {
  if (!there) return el("span.moved.only", {}, "only here");
  if (there === rank) return el("span.moved", { title: "same place on the other side" }, "=");
  return el(`span.moved.${there > rank ? "up" : "down"}`, {}, `${there > rank ? "▲" : "▼"} ${there} there`);
}
