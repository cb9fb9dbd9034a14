"""Short forms that people type for what tools spell out, and the other way round."""

from __future__ import annotations

from typing import Final

_PAIRS = """
k8s kubernetes; db database; dbs databases; pr pull request; prs pull requests; mr merge request; repo repository;
repos repositories; org organization; auth authentication; cal calendar; cfg configuration; config configuration;
env environment; doc document; docs documents; img image; msg message; dm direct message; tx transaction;
txn transaction; acct account; amt amount; qty quantity; addr address; tel telephone; pwd password; pw password;
usr user; emp employee; hr human resources; pto vacation; ooo out of office; inv invoice; po purchase order;
cust customer; vm virtual machine; vms virtual machines; lb load balancer; cert certificate; certs certificates;
fn function; svc service; ns namespace; fw firewall; kb knowledge base; fx exchange; ccy currency; btc bitcoin;
eth ethereum; stats statistics; avg average; pct percent; mgr manager; dept department; appt appointment;
appts appointments; mtg meeting; pic picture; pics pictures; vid video; vids videos; yt youtube; fb facebook;
ig instagram; gh github; gdrive drive; js javascript; cmd command; dir directory; del delete; diff difference;
attr attribute; param parameter; params parameters; req request; resp response; err error; perf performance
"""

ABBREVIATIONS: Final[dict[str, str]] = {
    short: long for short, _, long in (pair.strip().partition(" ") for pair in " ".join(_PAIRS.split()).split(";"))
}
"""Short form -> what it stands for, in lower case."""
LONG_FORMS: Final[dict[str, str]] = {long: short for short, long in ABBREVIATIONS.items() if " " not in long}
"""One word -> a short form of it."""
