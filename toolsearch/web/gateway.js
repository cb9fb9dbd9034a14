// The servers behind the gateway at /mcp, as the worker that answered sees them.

import { ask, path } from "./api.js";
import { el, fill, said } from "./dom.js";
import { acting, changeOf, problems } from "./upkeep.js";

/** The sources of the gateway; nothing where there is none, or none that the key may be told of. */
export function behind(shared, told) {
  if (told instanceof Error || !(told.sources.length || told.changes.length)) return null;
  const place = el("div");
  draw(shared, place, told);
  return [el("h2", {}, "Behind /mcp"), place];
}

function draw(shared, place, told) {
  const upkeep = {
    shared,
    done: async () => {
      try {
        draw(shared, place, await ask(path("gateway")));
      } catch (error) {
        shared.fail(error);
      }
    },
  };
  const waiting = told.changes.filter((one) => one.held);
  fill(
    place,
    el("div.cards", {}, told.sources.map((one) => source(upkeep, one))),
    told.changes.length ? el("h3", {}, `Changed at their server: ${told.changes.length}, held back: ${waiting.length}`) : null,
    told.changes.map((one) => changeOf(upkeep, one.id, one.diff, path("gateway/approve"))),
    waiting.length ? el("div.actions", {}, acting(upkeep, "Approve all changes behind the gateway", "Approve all", path("gateway/approve"), {})) : null,
  );
}

function source(upkeep, one) {
  const state = { ready: "good", down: "bad" }[one.state] ?? "new";
  const sync = path(`gateway/sources/${encodeURIComponent(one.name)}/sync`);
  return el(
    "article.card",
    {},
    el("h3", {}, said("span", one.name), el(`span.state.${state}`, {}, one.state)),
    el("p.quiet", {}, `${one.kind} · ${one.tools} ${one.tools === 1 ? "tool" : "tools"}`),
    one.reason ? said("p.problem", one.reason) : null,
    problems(one.problems),
    one.kind === "mcp" ? el("div.actions", {}, acting(upkeep, `List ${one.name} again`, "List again", sync)) : null,
  );
}
