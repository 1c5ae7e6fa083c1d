// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0
//
// All of it is done by the server, too, for those without a script: lists have a form with a search,
// and the page of what goes on is loaded again from time to time.
"use strict";

// While somebody types, what does not match is hidden. The form searches the whole list.
for (const input of document.querySelectorAll("[data-filter]")) {
  const rows = [...document.querySelectorAll("[data-rows] tbody tr, [data-item]")].map((row) => [row, row.textContent.toLowerCase()]);
  const found = document.getElementById("found");
  const usual = found.textContent;
  const first = input.value;
  input.addEventListener("input", () => {
    const text = input.value.trim().toLowerCase();
    let shown = 0;
    for (const [row, content] of rows) {
      row.hidden = !content.includes(text);
      shown += row.hidden ? 0 : 1;
    }
    found.textContent = input.value === first ? usual : shown + " on this page; Enter searches everything";
  });
}

// The part of the page that changes is asked for again, as the server makes it.
const live = document.getElementById("live");
if (live) {
  const told = document.getElementById("told");
  const lost = document.getElementById("lost");
  const asOf = document.getElementById("as-of");
  let asking = false, again = false;
  const refresh = async () => {
    if (asking) {
      again = true;
      return;
    }
    asking = true;
    try {
      const answer = await fetch(location.href, { cache: "no-store" });
      if (answer.ok) {
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        const made = page.getElementById("live");
        if (made) {
          live.replaceChildren(...made.childNodes);
          asOf.replaceChildren(...page.getElementById("as-of").childNodes);
        }
      }
    } catch {
      // The stream of events says so, too.
    } finally {
      asking = false;
      if (again) {
        again = false;
        refresh();
      }
    }
  };
  const events = new EventSource(live.dataset.events);
  events.addEventListener("open", () => { lost.hidden = true; });
  events.addEventListener("error", () => { lost.hidden = false; });
  events.addEventListener("change", (event) => {
    if (told.textContent !== event.data) {
      told.textContent = event.data;
    }
    refresh();
  });
}
