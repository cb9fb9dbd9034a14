// Search as you type, narrowed by namespace, tag and filter.

import { ask, newest, path } from "./api.js";
import { choice, el, fill, soon } from "./dom.js";
import { list, verdict } from "./hits.js";
import { openTool } from "./tool.js";

const BANDS = [["", "any"], ["low", "low or better"], ["medium", "medium or better"], ["high", "high"]];
const find = newest();

/** The filter that the chosen namespace and tag and the typed text make together, as the service's filter language. */
export function filterText({ ns, tag, filter }) {
  const quoted = (value) => `"${value.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
  const parts = [];
  if (ns) parts.push(`namespace = ${quoted(ns)}`);
  if (tag) parts.push(`tags = ${quoted(tag)}`);
  if (filter) parts.push(parts.length ? `(${filter})` : filter);
  return parts.join(" and ");
}

export async function show(shared) {
  const facets = await ask(path("facets", { index: shared.index.name }));
  const answer = el("section.answer", { "aria-live": "polite", "aria-label": "Result" });
  const { field, changed } = asking(shared, () => search(shared, answer));
  return [field, controls(shared, facets, changed), answer];
}

/** The field for a request, and what a changed value does: the address follows, and soon `work` runs, as it does now. */
export function asking(shared, work) {
  const run = soon(work);
  const changed = (name) => (value) => {
    shared.set({ [name]: value });
    run();
  };
  const field = queryField(shared, changed("q"));
  run();
  setTimeout(() => field.querySelector("input").focus({ preventScroll: true }));
  return { field, changed };
}

/** The field for a request; Arrow Down goes to the hits. */
function queryField(shared, changed) {
  const down = (event) => {
    if (event.key !== "ArrowDown") return;
    event.preventDefault();
    document.querySelector("button.open")?.focus();
  };
  const input = el("input", {
    id: "query", type: "search", value: shared.get("q"), maxlength: 10000, autocomplete: "off", spellcheck: "false",
    placeholder: "What should be done? For example: give the customer their money back",
    input: (event) => changed(event.target.value), keydown: down,
  });
  return el("div.query", {}, el("label.unseen", { for: "query" }, "What should be done?"), input, el("kbd", { title: "press / to come here" }, "/"));
}

function controls(shared, facets, changed) {
  const values = (counts) => [["", "all"], ...counts.slice(0, 500).map((one) => [one.value, `${one.value} (${one.tools})`])];
  const strategies = shared.index.strategies.map((name) => [name, name]);
  return el(
    "div.controls",
    {},
    facets.namespaces.length ? choice("Namespace", values(facets.namespaces), shared.get("ns"), changed("ns")) : null,
    facets.tags.length ? choice("Tag", values(facets.tags), shared.get("tag"), changed("tag")) : null,
    choice("Strategy", strategies, shared.get("strategy") || shared.index.strategy, changed("strategy")),
    choice("Confidence", BANDS, shared.get("band"), changed("band")),
    choice("Hits", ["5", "10", "20", "50"].map((k) => [k, k]), shared.get("k") || "10", changed("k")),
    el(
      "label.field.wide",
      {},
      el("span", {}, "Filter"),
      el("input", {
        id: "filter", value: shared.get("filter"), placeholder: "annotations.readOnlyHint = true", spellcheck: "false",
        maxlength: 5000, input: (event) => changed("filter")(event.target.value),
      }),
    ),
  );
}

/** The body of a search as the address says it. */
export function question(shared, strategy) {
  const wanted = { ns: shared.get("ns"), tag: shared.get("tag"), filter: shared.get("filter").trim() };
  return {
    query: shared.get("q"),
    index: shared.index.name,
    k: Number(shared.get("k")) || 10,
    strategy: strategy || shared.get("strategy") || shared.index.strategy,
    filter: filterText(wanted) || null,
    min_confidence: shared.get("band") || "none",
    schemas: "short",
    explain: true,
  };
}

async function search(shared, answer) {
  if (!shared.get("q").trim()) {
    fill(answer, el("p.empty", {}, "Say what should be done, in plain words or by a tool's name. Results come while you type."));
    return;
  }
  answer.classList.add("waiting");
  try {
    const found = await find(path("search"), { body: question(shared) });
    if (!found) return;
    shared.fine();
    fill(answer, verdict(found), list(shared, found.hits), missing(shared));
  } catch (error) {
    fill(answer);
    shared.fail(error);
  }
  answer.classList.remove("waiting");
}

/** Asks why a tool is not among the hits. */
function missing(shared) {
  const field = el("input", { id: "missing", required: true, maxlength: 1000, placeholder: "namespace/name", spellcheck: "false", autocomplete: "off" });
  const submit = (event) => {
    event.preventDefault();
    openTool(shared, field.value.trim());
  };
  return el("form.ask", { submit }, el("label.field.wide", {}, el("span", {}, "Another tool was wanted? Its id"), field), el("button", { type: "submit" }, "Why is it not here?"));
}
