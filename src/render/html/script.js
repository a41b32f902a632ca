
'use strict';
// All that the page can do beyond being read. It reads the document it is in, and nothing else.
(() => {
  const all = (selector, within = document) => Array.from(within.querySelectorAll(selector));
  const reveal = element => { element.hidden = false; return element; };

  // Light and dark, beginning with what the system prefers. Nothing is stored.
  const theme = reveal(document.querySelector('.theme'));
  const root = document.documentElement;
  const setTheme = dark => theme.setAttribute('aria-pressed', String(dark));
  setTheme(matchMedia('(prefers-color-scheme: dark)').matches);
  theme.addEventListener('click', () => {
    const dark = theme.getAttribute('aria-pressed') !== 'true';
    root.dataset.theme = dark ? 'dark' : 'light';
    setTheme(dark);
  });

  // The map: one level at a time. Without this script anchors do the same.
  const map = document.querySelector('.treemap');
  if (map) {
    const levels = all('.level', map);
    const readout = map.querySelector('.readout');
    const open = (id, from) => {
      const level = levels.find(level => level.id === id) || levels[0];
      levels.forEach(other => other.classList.toggle('on', other === level));
      const areas = all('.area', level);
      areas.forEach((area, at) => area.setAttribute('tabindex', at ? '-1' : '0'));
      readout.textContent = readout.dataset.idle;
      if (from) (areas.find(area => area.getAttribute('href') === '#' + from) || areas[0]).focus();
    };
    const tell = area => { readout.textContent = area.getAttribute('aria-label'); };
    const move = (from, x, y) => {
      const middle = element => {
        const box = element.getBoundingClientRect();
        return [box.left + box.width / 2, box.top + box.height / 2];
      };
      const [left, top] = middle(from);
      let best = null, least = Infinity;
      for (const area of all('.area', from.closest('.level'))) {
        const [toLeft, toTop] = middle(area);
        const along = x * (toLeft - left) + y * (toTop - top);
        const aside = Math.abs(y * (toLeft - left)) + Math.abs(x * (toTop - top));
        if (area !== from && along > 1 && along + 2 * aside < least) {
          least = along + 2 * aside;
          best = area;
        }
      }
      if (!best) return;
      from.setAttribute('tabindex', '-1');
      best.setAttribute('tabindex', '0');
      best.focus();
    };
    const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    map.classList.add('live');
    map.addEventListener('click', event => {
      const link = event.target.closest('a[href^="#m"]');
      if (!link) return;
      event.preventDefault();
      open(link.getAttribute('href').slice(1), link.closest('.level').id);
    });
    map.addEventListener('keydown', event => {
      const area = event.target.closest('.area');
      const level = event.target.closest('.level');
      if (event.altKey || event.ctrlKey || event.metaKey || !level) return;
      if (arrows[event.key] && area) {
        move(area, ...arrows[event.key]);
      } else if (event.key === 'Escape') {
        const up = all('.crumbs a', level).pop();
        if (!up) return;
        open(up.getAttribute('href').slice(1), level.id);
      } else {
        return;
      }
      event.preventDefault();
    });
    for (const kind of ['focusin', 'pointerover']) {
      map.addEventListener(kind, event => {
        const area = event.target.closest('.area');
        if (area) tell(area);
      });
    }
    open(location.hash.slice(1), null);
  }

  // Findings: by severity, rule and text, in an order.
  const controls = document.querySelector('.controls');
  if (controls) {
    const list = document.querySelector('.findings');
    const findings = all('.finding', list);
    const texts = new Map(findings.map(finding => [finding, finding.textContent.toLowerCase()]));
    const field = name => controls.elements.namedItem(name);
    const rules = Array.from(new Set(findings.map(finding => finding.dataset.rule))).sort();
    for (const rule of rules) field('rule').append(new Option(rule, rule));
    for (const box of all('[name="severity"]', controls)) {
      box.disabled = !findings.some(finding => finding.dataset.severity === box.value);
    }
    const orders = {
      at: (a, b) => a.dataset.at - b.dataset.at,
      memory: (a, b) => b.dataset.memory - a.dataset.memory,
      keys: (a, b) => b.dataset.keys - a.dataset.keys,
      rule: (a, b) => (a.dataset.rule < b.dataset.rule ? -1 : Number(a.dataset.rule > b.dataset.rule)),
    };
    const show = () => {
      const severities = all('[name="severity"]:checked', controls).map(box => box.value);
      const rule = field('rule').value;
      const words = field('text').value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const finding of findings) {
        const fits = severities.includes(finding.dataset.severity)
          && (!rule || finding.dataset.rule === rule)
          && words.every(word => texts.get(finding).includes(word));
        finding.hidden = !fits;
        shown += Number(fits);
      }
      list.append(...findings.slice().sort((a, b) => orders[field('order').value](a, b) || orders.at(a, b)));
      const count = controls.querySelector('.count');
      count.textContent = shown + count.dataset.of + findings.length;
      document.querySelector('.none').hidden = shown > 0;
    };
    // What is looked for may be among the findings that are closed at first.
    const rest = list.parentElement.querySelector('.rest');
    controls.addEventListener('input', () => {
      if (rest) rest.open = true;
      show();
    });
    controls.addEventListener('submit', event => event.preventDefault());
    reveal(controls);
    show();
  }

  // Tables: a heading puts its column in order.
  for (const table of all('table[data-sortable]')) {
    const body = table.tBodies[0];
    all('th', table).forEach((head, column) => {
      if (!head.textContent) return;
      const button = document.createElement('button');
      button.type = 'button';
      button.append(...head.childNodes);
      head.append(button);
      const value = row => {
        const cell = row.cells[column];
        return cell.dataset.v === undefined ? cell.textContent : Number(cell.dataset.v);
      };
      button.addEventListener('click', () => {
        const down = head.getAttribute('aria-sort') !== 'descending' && (head.hasAttribute('aria-sort') || head.classList.contains('n'));
        const sign = down ? -1 : 1;
        const rows = Array.from(body.rows).sort((a, b) => {
          const [one, other] = [value(a), value(b)];
          return one === other ? 0 : sign * (one < other ? -1 : 1);
        });
        all('th', table).forEach(other => other.removeAttribute('aria-sort'));
        head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
        body.append(...rows);
      });
    });
  }

  // The list of contents marks what is being read.
  const links = new Map(all('.contents a').map(link => [link.getAttribute('href').slice(1), link]));
  if (window.IntersectionObserver) {
    const seen = new IntersectionObserver(entries => {
      for (const { target, isIntersecting } of entries) {
        if (!isIntersecting) continue;
        for (const link of links.values()) link.removeAttribute('aria-current');
        links.get(target.id).setAttribute('aria-current', 'true');
      }
    }, { rootMargin: '-10% 0px -80% 0px' });
    for (const part of all('.part')) seen.observe(part);
  }

  // Paper shows what a click would.
  const folded = [];
  addEventListener('beforeprint', () => {
    for (const fold of all('details:not([open])')) { fold.open = true; folded.push(fold); }
  });
  addEventListener('afterprint', () => {
    while (folded.length) folded.pop().open = false;
  });
})();
