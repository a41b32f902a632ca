'use strict';
// Opens HTML reports in headless Chromium and fails on the first thing that is not as it should be.
//
//     node check.cjs FOLDER REPORT.html...       screenshots and printed pages go to FOLDER; none are kept if it is -

const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { pathToFileURL } = require('node:url');
const { chromium } = require('playwright-core');
const axe = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

const ARGS = [
  '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync',
];
const WIDTHS = [360, 1280, 1920];
// Looks whose accessibility is checked: it takes long, and each width and each scheme is among them.
const ACCESSIBLE = ['360 dark', '1280 light'];

/** The path of a picture, or none. */
const kept = (shots, name) => shots === '-' ? undefined : path.join(shots, name);

/** A page of that size that notes all it should not do. */
async function open(browser, file, options) {
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
  const page = await context.newPage();
  const wrong = [];
  page.on('console', message => wrong.push(`console ${message.type()}: ${message.text()}`));
  page.on('pageerror', error => wrong.push(`error: ${error.message}`));
  page.on('dialog', dialog => { wrong.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on('popup', () => wrong.push('a window was opened'));
  page.on('request', request => { if (request.url() !== url) wrong.push(`request: ${request.url()}`); });
  const url = pathToFileURL(file).href;
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', event => console.error(`CSP: ${event.violatedDirective} ${event.blockedURI}`));
  });
  await page.goto(url);
  return { page, wrong, close: () => context.close() };
}

/** Wide or dark, it fits and reads. */
async function looks(browser, file, shots) {
  const name = path.basename(file, '.html');
  for (const width of WIDTHS) {
    for (const colorScheme of ['light', 'dark']) {
      const { page, wrong, close } = await open(browser, file, { viewport: { width, height: 900 }, colorScheme });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= width, `${name}: ${wide} px of text in a window of ${width} px`);
      const picture = kept(shots, `${name}-${width}-${colorScheme}.png`);
      if (picture) await page.screenshot({ path: picture, fullPage: true });
      if (ACCESSIBLE.includes(`${width} ${colorScheme}`)) await accessible(page, `${name} ${width} ${colorScheme}`);
      assert.deepEqual(wrong, [], `${name} at ${width} px`);
      await close();
    }
  }
}

/** No serious violation of accessibility that axe-core can find, with all that opens opened. */
async function accessible(page, where) {
  await page.evaluate(() => { for (const fold of document.querySelectorAll('details')) fold.open = true; });
  // By the debugger, which the page's own policy does not bind.
  const session = await page.context().newCDPSession(page);
  await session.send('Runtime.evaluate', { expression: axe });
  const { result } = await session.send('Runtime.evaluate', {
    expression: `axe.run(document, { resultTypes: ['violations'] }).then(found => JSON.stringify(found.violations
      .filter(rule => ['serious', 'critical'].includes(rule.impact))
      .map(rule => [rule.id, rule.nodes.length, rule.nodes[0].html.slice(0, 200), rule.nodes[0].failureSummary])))`,
    awaitPromise: true,
  });
  assert.deepEqual(JSON.parse(result.value), [], `accessibility of ${where}`);
}

const shown = page => page.locator('.level:visible').evaluateAll(levels => levels.map(level => level.id));

/** The map opens and comes back, by mouse and by keyboard. */
async function map(page, name) {
  assert.deepEqual(await shown(page), ['m0'], name);
  const opening = page.locator('.level.on a.area').first();
  if (!await opening.count()) return;
  const target = (await opening.getAttribute('href')).slice(1);
  await opening.click({ position: { x: 20, y: 12 } });
  assert.deepEqual(await shown(page), [target], `${name}: a click opens`);
  await page.locator('.level.on .crumbs a').first().click();
  assert.deepEqual(await shown(page), ['m0'], `${name}: a crumb goes back`);
  await opening.focus();
  await page.keyboard.press('Enter');
  assert.deepEqual(await shown(page), [target], `${name}: Enter opens`);
  assert.ok(await page.evaluate(() => document.activeElement.closest('.level.on .area')), `${name}: the focus goes along`);
  await page.keyboard.press('Escape');
  assert.deepEqual(await shown(page), ['m0'], `${name}: Escape goes back`);
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute('href')), `#${target}`, `${name}: to where one was`);
  const before = await page.evaluate(() => document.activeElement.getAttribute('aria-label'));
  for (const key of ['ArrowRight', 'ArrowDown', 'ArrowLeft', 'ArrowUp']) await page.keyboard.press(key);
  await page.keyboard.press('ArrowRight');
  assert.notEqual(await page.evaluate(() => document.activeElement.getAttribute('aria-label')), before, `${name}: arrows move`);
  assert.notEqual(await page.locator('.readout').textContent(), '', `${name}: the reader is told`);
}

/** Findings are filtered and ordered, tables are ordered. */
async function controls(page, name) {
  const count = () => page.locator('.finding:visible').count();
  const all = await count();
  if (all > 0) {
    const rules = await page.locator('.finding').evaluateAll(list => list.map(finding => finding.dataset.rule));
    await page.locator('.controls [name=rule]').selectOption(rules[0]);
    assert.equal(await count(), rules.filter(rule => rule === rules[0]).length, `${name}: by rule`);
    await page.locator('.controls [name=rule]').selectOption('');
    await page.locator('.controls [name=text]').fill(rules[rules.length - 1]);
    assert.ok(await count() >= 1 && await count() < Math.max(all, 2), `${name}: by text`);
    await page.locator('.controls [name=text]').fill('no such thing anywhere');
    assert.equal(await count(), 0, `${name}: by text that is nowhere`);
    assert.ok(await page.locator('.none').isVisible(), `${name}: it is said that nothing fits`);
    await page.locator('.controls [name=text]').fill('');
    const musts = await page.locator('.finding[data-severity=must]').count();
    for (const severity of ['should', 'hint']) {
      const box = page.locator(`.controls [value=${severity}]`);
      if (await box.isEnabled()) await box.uncheck();
    }
    assert.equal(await count(), musts, `${name}: by severity`);
    for (const severity of ['should', 'hint']) {
      const box = page.locator(`.controls [value=${severity}]`);
      if (await box.isEnabled()) await box.check();
    }
    await page.locator('.controls [name=order]').selectOption('memory');
    const memory = await page.locator('.finding').evaluateAll(list => list.map(finding => Number(finding.dataset.memory)));
    assert.deepEqual(memory, memory.slice().sort((a, b) => b - a), `${name}: in the order of memory`);
  }
  const table = page.locator('#patterns table');
  const values = () => table.locator('tbody td:nth-child(2)').evaluateAll(cells => cells.map(cell => Number(cell.dataset.v)));
  await table.locator('th:nth-child(2) button').click();
  assert.deepEqual(await values(), (await values()).sort((a, b) => b - a), `${name}: a table in order`);
  await table.locator('th:nth-child(2) button').click();
  assert.deepEqual(await values(), (await values()).sort((a, b) => a - b), `${name}: and the other way round`);
  await page.locator('.theme').click();
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark', `${name}: dark on demand`);
}

/** Printed, it is several pages of a PDF. */
async function print(page, name, shots) {
  const pdf = await page.pdf({ format: 'A4', preferCSSPageSize: true, path: kept(shots, `${name}.pdf`) });
  const pages = pdf.toString('latin1').match(/\/Type\s*\/Page[^s]/g) || [];
  assert.ok(pdf.length > 10_000 && pages.length >= 2, `${name}: ${pdf.length} bytes, ${pages.length} pages`);
  // What a review attaches: a dump with everything in it takes a few more.
  assert.ok(pages.length <= (name.startsWith('shop') ? 6 : 12), `${name}: ${pages.length} printed pages`);
  return pages.length;
}

/** Rows beyond the first are closed, open on demand, and are never lost. */
async function rest(page, name) {
  const lists = page.locator('.listing.long:not(.tree):has(> .scroll)');
  for (let at = 0; at < await lists.count(); at += 1) {
    const list = lists.nth(at);
    const rows = () => list.locator('tbody tr:visible').count();
    const all = await list.locator('tbody tr').count();
    assert.ok(await rows() === 10 && all > 10, `${name}: ${await rows()} of ${all} rows are open`);
    await list.locator('.rest > summary').click();
    assert.equal(await rows(), all, `${name}: all rows on demand`);
    await list.locator('.rest > summary').click();
  }
}

/** The first screen has the figures, the gravest findings and the beginning of the map. */
async function first(page, name) {
  const bottom = selector => page.locator(selector).first().evaluate(element => element.getBoundingClientRect().bottom);
  const links = await page.locator('.gravest tbody a').evaluateAll(list => list.map(link => link.getAttribute('href')));
  assert.ok(links.length <= 10 && links.every((link, at) => link === `#f${at}`), `${name}: ${links}`);
  assert.ok(await bottom('.tiles') < 420, `${name}: figures on the first screen`);
  assert.equal(await page.locator('.head .treemap').count(), 1, `${name}: the map is in the head`);
}

/** Without a script everything is there, and the map opens by its anchors. */
async function plain(browser, file) {
  const name = path.basename(file);
  const { page, wrong, close } = await open(browser, file, { javaScriptEnabled: false, viewport: { width: 1280, height: 900 } });
  const visible = selector => page.locator(selector).first().isVisible();
  assert.ok(await visible('#m0') && !await page.locator('#m1').isVisible(), `${name}: one level without a script`);
  assert.ok(!await visible('.controls') && !await visible('.theme'), `${name}: no control that does nothing`);
  const link = page.locator('#m0 a.area').first();
  if (await link.count()) {
    await link.click({ position: { x: 20, y: 12 } });
    assert.ok(await visible((await link.getAttribute('href'))) && !await visible('#m0'), `${name}: anchors open`);
  }
  assert.deepEqual(wrong, [], `${name} without a script`);
  await close();
}

/** Names stay names. */
async function harmless(page, name) {
  const found = await page.evaluate(() => ({
    scripts: document.scripts.length,
    strange: document.querySelectorAll('img, iframe, base, link, object, embed, textarea, [onload], [onerror], [onmouseover]').length,
    outside: Array.from(document.querySelectorAll('[href], [src]')).filter(element => !element.getAttribute('href')?.startsWith('#')).length,
    headings: document.querySelectorAll('h1').length,
  }));
  assert.deepEqual(found, { scripts: 1, strange: 0, outside: 0, headings: 1 }, name);
}

async function main([shots, ...files]) {
  assert.ok(files.length > 0, 'no report to open');
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ARGS });
  try {
    for (const file of files) {
      const name = path.basename(file, '.html');
      const size = fs.statSync(file).size;
      assert.ok(size < 1_000_000, `${name} has ${size} bytes`);
      const { page, wrong, close } = await open(browser, file, { viewport: { width: 1280, height: 900 }, colorScheme: 'light' });
      await harmless(page, name);
      const pages = await print(page, name, shots);
      await first(page, name);
      await rest(page, name);
      await map(page, name);
      await controls(page, name);
      assert.deepEqual(wrong, [], name);
      await close();
      await plain(browser, file);
      await looks(browser, file, shots);
      console.log(`${name}: ${size} bytes, ${pages} printed pages, in order`);
    }
  } finally {
    await browser.close();
  }
}

main(process.argv.slice(2)).catch(error => {
  console.error(error.message || error);
  process.exit(1);
});
