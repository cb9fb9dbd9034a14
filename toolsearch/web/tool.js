// A tool's full definition, what is wrong with it, and why a request finds it or not.

import { ask, path, toolPath } from "./api.js";
import { choice, el, fill, said } from "./dom.js";
import { why } from "./hits.js";

const FORMATS = ["toolsearch", "openai", "responses", "anthropic", "gemini", "mcp", "ollama"];
const dialog = document.getElementById("tool");
dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());

export async function openTool(shared, id) {
  const index = shared.index.name;
  try {
    const tool = await ask(toolPath(id, { index }));
    fill(dialog, el("div.sheet", {}, heading(tool), body(shared, tool)));
  } catch (error) {
    shared.fail(error);
    return;
  }
  shared.set({ tool: id });
  dialog.addEventListener("close", () => shared.set({ tool: "" }), { once: true });
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
}

function heading(tool) {
  return el(
    "header.sheet-head",
    {},
    said("h2", tool.id, { id: "tool-title" }),
    el("button.close", { click: () => dialog.close(), "aria-label": "Close" }, "✕"),
  );
}

function body(shared, tool) {
  return [
    tool.title ? said("p.title", tool.title) : null,
    said("p.full", tool.description || "(no description)"),
    findings(shared, tool),
    shared.get("q").trim() ? explained(shared, tool) : null,
    el("h3", {}, "Takes"),
    parameters(tool.parameters),
    facts(tool),
    el("h3", {}, "Definition"),
    definition(shared, tool),
  ];
}

/** What is wrong with the tool; the first question to a large catalog takes a while, so it is not waited for. */
function findings(shared, tool) {
  const place = el("ul.findings", { "aria-label": "Findings" });
  ask(path("lint", { index: shared.index.name, tool: tool.id })).then(
    (lint) => fill(place, lint.findings.map(finding)),
    (error) => fill(place, el("li", {}, error.message)),
  );
  return place;
}

const finding = (one) => el(`li.${one.severity}`, {}, el("b", {}, one.rule), " ", said("span", one.message));

function explained(shared, tool) {
  const place = el("div.explained");
  const wanted = { query: shared.get("q"), tool: tool.id, k: Number(shared.get("k")) || 10 };
  const strategy = shared.get("strategy") || shared.index.strategy;
  ask(path("explain"), { body: { ...wanted, strategy, index: shared.index.name } }).then(
    (found) => fill(place, told(found)),
    (error) => fill(place, el("p.note", {}, error.message)),
  );
  return [el("h3", {}, "Why for “", said("span", shared.get("q").slice(0, 200)), "”"), place];
}

function told(found) {
  const state = found.found ? `found in place ${found.rank}` : `not among the first ${found.k}${found.rank ? `, but in place ${found.rank}` : ""}`;
  return [
    el("p", {}, el("strong", {}, state), found.obstacle ? said("span", `: ${found.obstacle}`) : null),
    found.reasons.length ? why(found.reasons) : null,
    el(
      "ul.told",
      {},
      found.words.map((one) => el("li", {}, said("code", one.word), ` in ${one.fields.join(", ")}`)),
      found.missing.map((word) => el("li.quiet", {}, said("code", word), " nowhere in this tool")),
    ),
  ];
}

/** Parameters as a table; a schema may hold anything anywhere. */
function parameters(schema) {
  const named = Object.entries(mapped(mapped(schema).properties));
  if (!named.length) return el("p.quiet", {}, "no parameters");
  const required = Array.isArray(schema.required) ? schema.required : [];
  const rows = named.slice(0, 200).map(([name, given]) => {
    const one = mapped(given);
    return el(
      "tr",
      {},
      el("th", { scope: "row" }, said("code", name), required.includes(name) ? el("span.must", { title: "required" }, "*") : null),
      el("td", {}, said("span.kind", kind(one))),
      said("td", typeof one.description === "string" ? one.description : ""),
    );
  });
  const more = named.length > 200 ? el("p.quiet", {}, `and ${named.length - 200} more`) : null;
  return [el("table.takes", {}, el("tbody", {}, rows)), more];
}

const mapped = (value) => (value && typeof value === "object" && !Array.isArray(value) ? value : {});

function kind(schema) {
  if (Array.isArray(schema.enum)) return schema.enum.slice(0, 12).map((one) => JSON.stringify(one)).join(" | ");
  const type = Array.isArray(schema.type) ? schema.type.join(" | ") : (schema.type ?? (schema.$ref ? "reference" : "any"));
  return type === "array" ? `array of ${mapped(schema.items).type ?? "any"}` : String(type);
}

function facts(tool) {
  const rows = [
    ["Tags", tool.tags], ["Aliases", tool.aliases], ["Example requests", tool.examples], ["Groups", tool.groups],
    ["Source", [tool.source]], ["Search", tool.search === "always_visible" ? ["always visible"] : []],
    ["Annotations", Object.entries(mapped(tool.annotations)).map(([name, value]) => `${name}: ${JSON.stringify(value)}`)],
  ];
  const filled = rows.filter(([, values]) => values?.some(Boolean));
  return el("dl.facts", {}, filled.map(([name, values]) => [el("dt", {}, name), el("dd", {}, values.map((one) => said("span.tag", one)))]));
}

function definition(shared, tool) {
  const text = el("pre", { tabindex: "0" }, JSON.stringify(tool, null, 2));
  const change = async (format) => {
    try {
      const written = format === "toolsearch" ? tool : await ask(toolPath(tool.id, { index: shared.index.name, format }));
      fill(text, JSON.stringify(written, null, 2));
    } catch (error) {
      fill(text, error.message);
    }
  };
  const copy = el("button", { click: () => navigator.clipboard?.writeText(text.textContent).then(() => fill(copy, "Copied")) }, "Copy");
  return [el("div.controls", {}, choice("As", FORMATS.map((name) => [name, name]), "toolsearch", change), copy), text];
}
