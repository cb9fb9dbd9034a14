// A list of hits with the reasons why each is there.

import { el, said } from "./dom.js";
import { openTool } from "./tool.js";

const KINDS = { exact: "exact name", words: "words", similarity: "similarity", clause: "one clause", question: "a question", need: "one need", decision: "judge" };

/** One line on the whole answer: how sure it is, and its notes. */
export function verdict(found) {
  const count = found.hits.length;
  const text = count ? `${count} ${count === 1 ? "tool" : "tools"}` : "Nothing fits";
  const sure = found.confidence === null ? "" : ` (${Math.round(found.confidence * 100)} %)`;
  return [
    el("p.verdict", {}, el("strong", {}, text), count ? el(`span.band.${found.band}`, {}, `confidence: ${found.band}${sure}`) : null),
    found.notes.map((note) => said("p.note", note)),
  ];
}

/** The hits as a list; arrow keys move in it, Enter opens a tool. `moved` says where each stood elsewhere. */
export function list(shared, hits, { moved } = {}) {
  const most = Math.max(1e-9, ...hits.map((hit) => positive(hit.reasons)));
  const items = hits.map((hit, place) => el("li", {}, card(shared, hit, place + 1, { most, moved })));
  return el("ol.hits", { keydown: arrows }, items);
}

const positive = (reasons) => (reasons ?? []).reduce((sum, one) => sum + Math.max(0, one.points), 0);

function card(shared, hit, rank, { most, moved }) {
  return el(
    "article.hit",
    {},
    el(
      "h3",
      {},
      el("span.rank", { "aria-hidden": "true" }, rank),
      el("button.open", { click: () => openTool(shared, hit.id), "data-tool": hit.id, dir: "auto" }, hit.id),
      moved ? moved(hit, rank) : null,
      el("span.score", { title: "score" }, hit.score.toFixed(2)),
    ),
    hit.title && hit.title !== hit.name ? said("p.title", hit.title) : null,
    said("p.text", hit.description || "(no description)"),
    hit.parameters?.length ? el("p.takes", {}, hit.parameters.slice(0, 12).map((name) => said("code", name))) : null,
    hit.reasons?.length ? why(hit.reasons, most) : null,
  );
}

/** Reasons as bars: how many points each gave, with its words or its cosine. */
export function why(reasons, most = positive(reasons) || 1) {
  const row = (one) => {
    const bar = el("span.bar", { "aria-hidden": "true" });
    bar.style.width = `${Math.max(2, Math.min(100, (100 * Math.abs(one.points)) / most))}%`;
    return el(
      `li.${one.kind in KINDS ? one.kind : "other"}${one.points < 0 ? ".minus" : ""}`,
      {},
      el("span.kind", {}, KINDS[one.kind] ?? one.kind),
      el("span.track", { "aria-hidden": "true" }, bar),
      el("span.points", {}, `${one.points < 0 ? "−" : "+"}${Math.abs(one.points).toFixed(2)}`),
      said("span.detail", one.detail),
    );
  };
  return el("ul.why", { "aria-label": "why it is here" }, reasons.map(row));
}

function arrows(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step || event.target.tagName !== "BUTTON") return;
  const all = [...event.currentTarget.querySelectorAll("button.open")];
  const next = all[all.indexOf(event.target) + step];
  event.preventDefault();
  (next ?? (step < 0 ? document.getElementById("query") : event.target)).focus();
}
