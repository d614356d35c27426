// What the pages do in a browser: copy buttons, search, the menu of versions, and the navigation of narrow windows. No library, and no
// server: search.js (window.searchIndex) and versions.js (window.versions) are loaded as scripts, so that the site works from files too.
"use strict";

const root = document.documentElement.dataset.root;

// A copy button for each block of code. Of a session with prompts it copies the commands alone.
function commands(text) {
  const lines = text.replace(/\n$/, "").split("\n");
  if (!lines.some((line) => line.startsWith("$ "))) return lines.join("\n");
  const copied = [];
  let continued = false;
  for (const line of lines) {
    const command = line.startsWith("$ ");
    if (command || continued) copied.push(command ? line.slice(2) : line);
    continued = (command || continued) && line.endsWith("\\");
  }
  return copied.join("\n");
}

for (const block of document.querySelectorAll("main pre")) {
  const button = document.createElement("button");
  button.className = "copy";
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(commands(block.textContent));
      button.textContent = "Copied";
    } catch {
      button.textContent = "Failed";
    }
    setTimeout(() => (button.textContent = "Copy"), 2000);
  });
  const frame = document.createElement("div");
  frame.className = "code";
  block.replaceWith(frame);
  frame.append(block, button);
}

// Search: all words must be in a section; a word in the heading or in the title of the page counts more than one in the text.
const input = document.getElementById("search");
const results = document.getElementById("results");
const shown = 12;

function find(query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const found = [];
  for (const { page, address, anchor, heading, text } of window.searchIndex ?? []) {
    const lower = { page: page.toLowerCase(), heading: heading.toLowerCase(), text: text.toLowerCase() };
    let score = 0;
    for (const word of words) {
      const one =
        (lower.heading.includes(word) ? 8 : 0) + (lower.page.includes(word) ? 4 : 0) + Math.min(lower.text.split(word).length - 1, 3);
      if (one === 0) {
        score = 0;
        break;
      }
      score += one;
    }
    if (score > 0) found.push({ score, page, address, anchor, heading, text, at: lower.text.indexOf(words[0]) });
  }
  return found.sort((a, b) => b.score - a.score).slice(0, shown);
}

function show(query) {
  const found = find(query);
  results.replaceChildren(
    ...found.map(({ page, address, anchor, heading, text, at }) => {
      const item = document.createElement("li");
      const link = document.createElement("a");
      link.href = root + address + (anchor ? "#" + anchor : "");
      const title = document.createElement("strong");
      title.textContent = heading ? page + " › " + heading : page;
      const excerpt = document.createElement("span");
      const from = Math.max(at - 40, 0);
      excerpt.textContent = (from > 0 ? "…" : "") + text.slice(from, from + 140) + "…";
      link.append(title, excerpt);
      item.append(link);
      return item;
    }),
  );
  if (query.trim() && found.length === 0) {
    const item = document.createElement("li");
    item.className = "none";
    item.textContent = "Nothing found";
    results.append(item);
  }
  results.hidden = !query.trim();
}

input.addEventListener("input", () => show(input.value));
document.addEventListener("keydown", (event) => {
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName);
  if (event.key === "/" && !typing) {
    event.preventDefault();
    input.focus();
  } else if (event.key === "Escape") {
    input.value = "";
    show("");
  } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && !results.hidden) {
    const links = [input, ...results.querySelectorAll("a")];
    const next = links.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1);
    if (links[next]) {
      event.preventDefault();
      links[next].focus();
    }
  } else if (event.key === "Enter" && document.activeElement === input) {
    results.querySelector("a")?.click();
  }
});
document.addEventListener("click", (event) => {
  if (!event.target.closest(".search")) results.hidden = true;
});

// Versions: the folders of the published site, newest first.
const version = document.getElementById("version");
const here = version.value;
const path = location.pathname.split("/" + here + "/").pop();
version.replaceChildren(
  ...[...new Set([...(window.versions ?? []), here])].map((name) => new Option(name, name, name === here, name === here)),
);
version.addEventListener("change", () => {
  // The page may not exist in the other version: its first page does.
  const target = root + "../" + version.value + "/";
  if (location.protocol === "file:") {
    location.href = target + "index.html";
    return;
  }
  fetch(target + path, { method: "HEAD" }).then(
    (answer) => (location.href = target + (answer.ok ? path : "index.html")),
    () => (location.href = target + "index.html"),
  );
});

const menu = document.getElementById("menu");
menu.addEventListener("click", () => {
  const open = document.body.classList.toggle("open");
  menu.setAttribute("aria-expanded", String(open));
});

// The present page is in sight in the navigation. scrollIntoView would scroll the page too.
const nav = document.getElementById("nav");
const current = nav.querySelector("[aria-current]");
if (current) nav.scrollTop = current.offsetTop - nav.offsetTop - nav.clientHeight / 2;
