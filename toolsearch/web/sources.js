// Where the tools come from and how reading them went, changes that wait for approval, and what each index is.

import { ask, path } from "./api.js";
import { el, fill, said } from "./dom.js";
import { behind } from "./gateway.js";
import { acting, changeOf, problems } from "./upkeep.js";

const SHOWN = 100;

export async function show(shared) {
  const index = shared.index.name;
  const [facets, sources, gateway, fresh] = await Promise.all([
    ask(path("facets", { index })),
    ask(path("sources", { index })).catch((error) => error),
    ask(path("gateway")).catch((error) => error),
    ask(path("indexes")),
  ]);
  shared.indexes = fresh.indexes;
  return [
    el("h1", {}, "Sources"),
    registered(shared, sources),
    behind(shared, gateway),
    el("h2", {}, "Tools by source"),
    counted(facets.sources, "source"),
    el("h2", {}, "Tools by namespace"),
    counted(facets.namespaces, "namespace"),
    el("h2", {}, "Indexes"),
    el("div.cards", {}, shared.indexes.map(card)),
  ];
}

function registered(shared, sources) {
  if (sources instanceof Error) {
    const reason = sources.status === 403 ? "Registered sources are shown to keys of the role admin." : `Registered sources cannot be shown: ${sources.message}`;
    return el("p.note", {}, reason);
  }
  if (!sources.sources.length) return el("p.empty", {}, "No MCP server or OpenAPI document is registered; the tools come from the index's own definition.");
  return el("div.cards", {}, sources.sources.slice(0, SHOWN).map((one) => source(shared, one)));
}

/** A source with what can be done with it. What waits for approval is asked for when the card is shown. */
function source(shared, one) {
  const place = el("article.card");
  draw(shared, place, one, []);
  if (one.hold_changes) again(shared, place, one.name);
  return place;
}

function draw(shared, place, one, found) {
  const held = one.held ?? [];
  const upkeep = { shared, done: (answer) => again(shared, place, one.name, answer?.problems) };
  fill(
    place,
    el("h3", {}, said("span", one.name), el(`span.state.${{ ok: "good", failed: "bad" }[one.state] ?? "new"}`, {}, one.state)),
    said("p.quiet", `${one.kind} · ${one.url}`),
    el("p", {}, `${one.tools} ${one.tools === 1 ? "tool" : "tools"}`, one.synced_at ? `, read ${new Date(one.synced_at).toLocaleString()}` : ", not read yet"),
    one.error ? said("p.problem", one.error) : null,
    problems(found),
    held.length ? el("p.note", {}, `Held back until approved: ${held.length}`) : null,
    held.slice(0, SHOWN).map((change) => changeOf(upkeep, change.id, change.difference.join("\n"), to(shared, one.name, "approve"))),
    el(
      "div.actions",
      {},
      acting(upkeep, `Read ${one.name} now`, "Read now", to(shared, one.name, "sync")),
      held.length ? acting(upkeep, `Approve all changes of ${one.name}`, "Approve all", to(shared, one.name, "approve"), {}) : null,
    ),
  );
}

async function again(shared, place, name, found = []) {
  try {
    draw(shared, place, await ask(to(shared, name)), found);
  } catch (error) {
    shared.fail(error);
  }
}

const to = (shared, name, what) => path(["sources", encodeURIComponent(name), ...(what ? [what] : [])].join("/"), { index: shared.index.name });

function counted(counts, what) {
  if (!counts.length) return el("p.quiet", {}, `No tool names its ${what}.`);
  const most = counts[0].tools;
  const rows = counts.slice(0, 200).map((one) => {
    const bar = el("span.bar");
    bar.style.width = `${(100 * one.tools) / most}%`;
    return el("tr", {}, said("th", one.value, { scope: "row" }), el("td.number", {}, one.tools), el("td.track", { "aria-hidden": "true" }, bar));
  });
  return [el("table.counts", {}, el("tbody", {}, rows)), counts.length > 200 ? el("p.quiet", {}, `and ${counts.length - 200} more`) : null];
}

function card(one) {
  return el(
    "article.card",
    {},
    el("h3", {}, said("span", one.name), el("span.state.good", {}, "open")),
    el("p", {}, `${one.tools.toLocaleString("en")} tools · ${one.strategy}`),
    said("p.quiet", one.encoder ? `encoder ${one.encoder}` : "words only, no encoder"),
    (one.notes ?? []).map((note) => said("p.problem", note)),
  );
}
