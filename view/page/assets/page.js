// Relative times, copying, and whether the page is live. Everything else is done by the server.
(() => {
  'use strict';
  const units = [['d', 86400], ['h', 3600], ['m', 60], ['s', 1]];
  const ago = (date) => {
    const seconds = Math.max(0, Math.round((Date.now() - date.getTime()) / 1000));
    for (const [unit, size] of units) {
      if (seconds >= size) {
        return Math.floor(seconds / size) + unit;
      }
    }
    return '0s';
  };
  const times = (root) => {
    for (const element of root.querySelectorAll('time[datetime]')) {
      const date = new Date(element.dateTime);
      if (Number.isNaN(date.getTime())) {
        continue;
      }
      const text = ago(date);
      if (element.textContent !== text) {
        element.textContent = text;
      }
      element.title = date.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'long' });
    }
  };
  const tell = (live, text) => {
    const status = document.getElementById('live');
    if (!status || status.textContent === text) {
      return;
    }
    status.textContent = text;
    status.classList.toggle('stale', !live);
    document.body.classList.toggle('is-stale', !live);
  };

  // A beat comes every few seconds. Without one the page is stale, even where the connection seems to be open.
  const silence = 25000;
  let heard = Date.now();
  let since = null;
  const stale = () => {
    since = since || new Date();
    tell(false, 'Stale: the connection is lost, reconnecting. Last update ' + since.toLocaleTimeString());
  };
  const live = () => {
    heard = Date.now();
    since = null;
    tell(true, 'Live');
  };
  document.addEventListener('beat', live);
  document.addEventListener('htmx:sse:after:connection', live);
  document.addEventListener('htmx:sse:after:message', live);
  document.addEventListener('htmx:sse:error', stale);
  document.addEventListener('htmx:sse:before:connection', (event) => {
    if (event.detail.connection && event.detail.connection.attempt > 0) {
      stale();
    }
  });
  document.addEventListener('htmx:after:swap', () => times(document));
  setInterval(() => {
    times(document);
    if (document.querySelector('[data-stream]') && Date.now() - heard > silence) {
      stale();
    }
  }, 1000);

  document.addEventListener('click', async (event) => {
    const button = event.target.closest('button[data-copy]');
    if (!button) {
      return;
    }
    const line = button.parentElement.querySelector('code').textContent;
    try {
      await navigator.clipboard.writeText(line);
      button.textContent = 'Copied';
    } catch {
      getSelection().selectAllChildren(button.parentElement.querySelector('code'));
      button.textContent = 'Selected';
    }
    setTimeout(() => { button.textContent = 'Copy'; }, 2000);
  });
  document.addEventListener('keydown', (event) => {
    const search = document.getElementById('q');
    if (event.key === '/' && search && !event.target.closest('input, textarea, select')) {
      event.preventDefault();
      search.focus();
      search.select();
    }
  });
  times(document);
})();
