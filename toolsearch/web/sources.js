// Where the tools come from and how reading them went, and what each index is.

import { ask, path } from "./api.js";
import { el, said } from "./dom.js";

export async function show(shared) {
  const index = shared.index.name;
  const [facets, sources, fresh] = await Promise.all([
    ask(path("facets", { index })),
    ask(path("sources", { index })).catch((error) => error),
    ask(path("indexes")),
  ]);
  shared.indexes = fresh.indexes;
  return [
    el("h1", {}, "Sources"),
    registered(sources),
    el("h2", {}, "Tools by source"),
    counted(facets.sources, "source"),
    el("h2", {}, "Tools by namespace"),
    counted(facets.namespaces, "namespace"),
    el("h2", {}, "Indexes"),
    el("div.cards", {}, shared.indexes.map(card)),
  ];
}

function registered(sources) {
  if (sources instanceof Error) {
    const reason = sources.status === 404 ? "This service keeps no registered sources." : sources.status === 403 ? "Registered sources are shown to keys of the role admin." : `Registered sources cannot be shown: ${sources.message}`;
    return el("p.note", {}, reason);
  }
  if (!sources.sources.length) return el("p.empty", {}, "No MCP server or OpenAPI document is registered; the tools come from the index's own definition.");
  return el("div.cards", {}, sources.sources.map(source));
}

function source(one) {
  const state = { ok: "good", failed: "bad" }[one.state] ?? "new";
  const when = one.synced_at ? new Date(typeof one.synced_at === "number" ? one.synced_at * 1000 : one.synced_at) : null;
  return el(
    "article.card",
    {},
    el("h3", {}, said("span", one.name), el(`span.state.${state}`, {}, one.state)),
    said("p.quiet", `${one.kind} · ${one.url}`),
    el("p", {}, `${one.tools} tools`, when && !Number.isNaN(when.valueOf()) ? `, read ${when.toLocaleString()}` : ", not read yet"),
    one.error ? said("p.problem", one.error) : null,
    one.held?.length ? el("p.note", {}, `${one.held.length} changed tools are held back until they are approved`) : null,
  );
}

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
