// What is wrong with the tools: rules with their counts, and the findings of each.

import { ask, path } from "./api.js";
import { el, fill, said } from "./dom.js";
import { openTool } from "./tool.js";

const NOUNS = { error: "errors", warning: "warnings", info: "remarks" };
const STEP = 100;

export async function show(shared) {
  const index = shared.index.name;
  const lint = await ask(path("lint", { index, limit: STEP }));
  const rules = lint.rules.filter((one) => one.count);
  const clean = lint.rules.filter((one) => !one.count);
  const list = el("div.rules", {}, sections(shared, "lint", lint));
  return [
    el("h1", {}, "Findability"),
    el("p.quiet", {}, `What keeps ${lint.tools.toLocaleString("en")} tools from being found, chosen or sent. On the command line: toolsearch index lint.`),
    totals(rules),
    narrow(list),
    rules.length ? list : el("p.empty", {}, "Nothing found."),
    reach(shared, list),
    clean.length ? el("details.clean", {}, el("summary", {}, `${clean.length} rules found nothing`), el("ul", {}, clean.map((one) => el("li", {}, el("code", {}, one.rule), ` ${one.looks_for}`)))) : null,
  ];
}

/** Tools that judged requests do not find; asking them all takes a while, so they are asked when it is wanted. */
function reach(shared, list) {
  const place = el("p.quiet", {}, "Which tools do the judged requests of this index never find? ");
  const button = el("button", { click: () => reached(shared, list, place) }, "Ask them");
  place.append(button);
  return place;
}

async function reached(shared, list, place) {
  fill(place, "Asking every judged request…");
  try {
    const found = await ask(path("lint/reach", { index: shared.index.name, limit: STEP }));
    const made = sections(shared, "lint/reach", found);
    list.append(...made);
    fill(place, made.length ? "Tools that judged requests do not find are listed above." : "Judged requests find every tool.");
  } catch (error) {
    fill(place, error.message);
  }
}

const sections = (shared, place, found) =>
  found.rules.filter((one) => one.count).map((rule) => section(shared, place, rule, found.findings.filter((one) => one.rule === rule.rule)));

function totals(rules) {
  const sums = Object.keys(NOUNS).map((severity) => [severity, rules.filter((one) => one.severity === severity).reduce((sum, one) => sum + one.count, 0)]);
  return el("p.totals", {}, sums.map(([severity, sum]) => el(`span.badge.${severity}`, {}, `${sum.toLocaleString("en")} ${NOUNS[severity]}`)));
}

function narrow(list) {
  const changed = (event) => {
    const wanted = event.target.value.toLowerCase();
    for (const item of list.querySelectorAll("li")) item.hidden = !item.textContent.toLowerCase().includes(wanted);
    for (const one of list.querySelectorAll("details")) one.open = wanted !== "" && one.querySelector("li:not([hidden])") !== null;
  };
  return el("label.field.wide", {}, el("span", {}, "Narrow"), el("input", { id: "query", type: "search", placeholder: "part of a tool's id or of a finding", input: changed }));
}

function section(shared, place, rule, findings) {
  const list = el("ul", {}, findings.map((one) => item(shared, one)));
  const more = el("button.more", { hidden: rule.count <= findings.length, click: () => all(shared, place, rule, list, more) }, `Show up to 1,000 of ${rule.count.toLocaleString("en")}`);
  return el(
    `details.rule.${rule.severity}`,
    { open: rule.severity === "error" && rule.count <= 5 },
    el("summary", {}, el(`span.badge.${rule.severity}`, {}, rule.count.toLocaleString("en")), el("b", {}, rule.rule), el("span.quiet", {}, rule.looks_for)),
    list,
    more,
  );
}

const item = (shared, one) =>
  el("li", {}, el("button.open", { click: () => openTool(shared, one.tool), dir: "auto", "data-tool": one.tool }, one.tool), said("span", one.message));

async function all(shared, place, rule, list, more) {
  try {
    const found = await ask(path(place, { index: shared.index.name, rule: rule.rule, limit: 1000 }));
    fill(list, ...found.findings.map((one) => item(shared, one)));
    more.hidden = true;
  } catch (error) {
    shared.fail(error);
  }
}
