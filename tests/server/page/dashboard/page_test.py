#!/usr/bin/env python3
"""The page in a real browser: given a status, when it is loaded, then it shows
it, as text only, to every reader, and stays within its
Content-Security-Policy.

Needs chromium and Chart.js; without them it is skipped (exit status 77).
"""

import os
import sys
import unittest

import browser
import fake_server
from browser import Browser
from fake_server import FakeServer, HOSTILE

SKIPPED = 77
IS_LIVE = "document.getElementById('connection')?.dataset.state === 'live'"
IS_LOST = "document.getElementById('connection')?.dataset.state === 'offline'"
HAS_CURVE = "Boolean(document.getElementById('accuracy')?.ariaLabel)"

# Every visible text whose contrast is under what WCAG asks for at level AA,
# and the borders of what can be pressed (3 to 1).
LOW_CONTRAST = """(() => {
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255).map(
      (c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
      .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const parts = (color) => color.match(/[\\d.]+/g).map(Number);
  const back = (node) => {
    for (; node; node = node.parentElement) {
      const color = parts(getComputedStyle(node).backgroundColor);
      if (color.length < 4 || color[3] > 0) return color;
    }
    return [255, 255, 255];
  };
  const ratio = (a, b) => {
    const [x, y] = [light(a), light(b)].sort((p, q) => q - p);
    return (x + 0.05) / (y + 0.05);
  };
  const found = [];
  for (const node of document.querySelectorAll('body *')) {
    if (!node.checkVisibility()) continue;
    const style = getComputedStyle(node);
    const isText = [...node.childNodes].some(
        (child) => child.nodeType === 3 && child.data.trim());
    if (isText) {
      const seen = ratio(parts(style.color), back(node));
      if (seen < 4.5) found.push([node.textContent.slice(0, 40), seen]);
    }
    if (node.matches('button, select')) {
      const edge = parts(style.borderTopColor);
      const seen = ratio(edge, back(node.parentElement));
      if (seen < 3) found.push([node.textContent.slice(0, 40), seen]);
    }
  }
  return found;
})()"""

# What is wrong for whoever does not see the page.
UNNAMED = """(() => {
  const found = [];
  const all = (selector) => [...document.querySelectorAll(selector)];
  for (const one of ['main', 'header', 'footer', 'nav', 'h1']) {
    if (all(one).length !== 1) found.push(one + ': not one');
  }
  const name = (node) => node.getAttribute('aria-label') ||
      document.getElementById(node.getAttribute('aria-labelledby'))
          ?.textContent || node.labels?.[0]?.textContent || node.textContent;
  for (const node of all('section, nav, button, select, input, progress,' +
                         'canvas, [role=region], a')) {
    if (!node.checkVisibility()) continue;
    if (!name(node).trim()) found.push(node.outerHTML.slice(0, 80));
  }
  for (const table of all('table')) {
    if (!table.caption?.textContent.trim()) found.push(table.id + ': caption');
    for (const head of table.tHead.rows[0].cells) {
      if (head.scope !== 'col') found.push(table.id + ': scope');
    }
  }
  const ids = all('[id]').map((node) => node.id);
  if (new Set(ids).size !== ids.length) found.push('an id twice');
  return found;
})()"""


class PageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = cls.enterClassContext(Browser())

    def setUp(self):
        self.browser.new_page()

    def load(self, server, fragment="", until=IS_LIVE, **looks):
        self.browser.look(**looks)
        self.browser.open(server.address + fragment)
        self.browser.wait_for(until)
        return self.browser

    def given(self, status, **how):
        return self.enterContext(FakeServer(status, **how))

    def test_given_runs_when_loaded_then_all_of_it_is_shown(self):
        server = self.given(fake_server.sample_status())
        page = self.load(server, until=HAS_CURVE)
        text = page.text()
        for expected in [
                "Glyph readers live", "Results per minute 1,317",
                "running first", "43.2 % handed out, about 3 h 10 min left",
                "Accuracy 93.71 % at version 995",
                "Best accuracy 94.02 % at version 980",
                "Units closed 1,007 of 1,031 made", "second-try · paused",
                "disagrees with result 4710, on which 2 agree",
                f"attach {server.address[:-1]}#0123456789abcdef0123456789abc",
                "Learning rate 0.1, linear", "Quorum 2 volunteers who agree",
                "NVIDIA H200, linux-x86_64, 8 cores, 15 GiB",
                "76.5 GFLOP/s proven 800 0 1 1,024.10",
                "Open units 24", "Replicas computing 40",
                "attic of Zoë: valid", "1 Zoë 2 5,120.50", "result rejected × 37",
                "run created –",
                "signed history; whole by quorate-client ledger first"]:
            self.assertIn(expected, text)
        self.assertEqual(
            page.ask("document.getElementById('ledger').pathname"),
            "/v1/runs/first/ledger")
        label = page.ask("document.getElementById('accuracy').ariaLabel")
        self.assertIn("200 points; the last: 93.66 % at version 995", label)
        self.assertEqual(page.console, [])

    def test_given_a_hostile_name_then_it_stays_text(self):
        page = self.load(self.given(fake_server.sample_status()))
        self.assertEqual(page.ask("document.querySelectorAll('img').length"),
                         0)
        # Volunteer, host, verdict, rejected result, event: wherever it goes.
        for table in ("users", "hosts", "closed", "rejected", "events"):
            self.assertIn(HOSTILE, page.ask(
                f"document.getElementById('{table}').textContent"))
        self.assertEqual(page.ask("document.title"),
                         "Glyph readers – Quorate")

    def test_given_a_run_in_the_address_then_that_run_is_shown(self):
        server = self.given(fake_server.sample_status())
        server.statuses["second-try"] = fake_server.paused_status()
        page = self.load(server, "#run=second-try")
        self.assertIn("paused second-try", page.text())
        self.assertIn("diverged at step 17: stop it and lower --lr. "
                      "quorate -C my-project train stop second-try",
                      page.text())
        server.statuses["first"] = fake_server.sample_status()
        page.ask("""{const runs = document.getElementById('runs');
                    runs.value = 'first';
                    runs.dispatchEvent(new Event('change', {bubbles: true}));
                    0}""")
        page.wait_for("document.getElementById('run-name').textContent === "
                      "'first'")
        self.assertEqual(page.ask("location.hash"), "#run=first")
        server.wait_until_asked("/v1/events?run=first")

    def test_given_unverified_results_then_their_number_is_shown(self):
        status = fake_server.sample_status()
        page = self.load(self.given(status))
        self.assertNotIn("Not verified", page.text())
        status["run"]["unverified"] = 2
        page = self.load(self.given(status))
        self.assertIn("Not verified: 2 results in the model were accepted by "
                      "the operator without recomputation.", page.text())

    def test_given_a_run_that_waits_then_it_says_for_whom(self):
        status = fake_server.sample_status()
        status["run"]["waits"] = ("waits: 118 results need a second user "
                                  "(quorum 2); there is 1, and no house worker")
        page = self.load(self.given(status))
        self.assertIn("The run waits: 118 results need a second user",
                      page.text())

    def test_given_no_point_yet_then_the_charts_have_no_axes(self):
        page = self.load(self.given(fake_server.empty_status()))
        shown = page.ask("""Object.values(Chart.instances).map(
            (chart) => [chart.canvas.id, chart.options.scales.x.display])""")
        self.assertIn(["accuracy", False], shown)
        ticks = page.ask("""Object.values(Chart.instances).flatMap(
            (chart) => chart.options.scales.x.display
                ? chart.scales.x.ticks.map((tick) => String(tick.label))
                : [])""")
        self.assertFalse([tick for tick in ticks if "." in tick], ticks)

    def test_given_a_flat_curve_then_no_two_labels_of_an_axis_are_alike(self):
        page = self.load(self.given(fake_server.sample_status()),
                         until=HAS_CURVE)
        # Before it is laid out a chart has room for one label.
        page.wait_for("""['accuracy', 'loss'].every(
            (id) => Chart.getChart(id).chartArea?.height > 80)""")
        for lowest, span in [(0.965, 0.02), (0.9712, 0.0008), (0.1, 0.8),
                             (2.3, 0.004)]:
            labels = page.ask(f"""['accuracy', 'loss'].map((id) => {{
                const chart = Chart.getChart(id);
                chart.data.datasets[0].data = [
                    {{x: 0, y: {lowest}}}, {{x: 1, y: {lowest} + {span}}}];
                chart.update();
                return chart.scales.y.ticks.map((tick) => String(tick.label));
            }})""")
            for shown in labels:
                self.assertGreater(len(shown), 1)
                self.assertEqual(len(shown), len(set(shown)), shown)
        self.assertEqual(page.console, [])

    def test_given_nothing_yet_then_the_page_says_what_to_type(self):
        page = self.load(self.given(fake_server.empty_status()))
        for expected in ["dataset add glyphs", "train create first --dataset",
                         "No host yet. Be the first"]:
            self.assertIn(expected, page.text())
        self.assertNotIn("Units in flight", page.text())
        self.assertEqual(page.console, [])

    def test_given_no_stream_then_the_page_polls(self):
        self.load(self.given(fake_server.sample_status(), streams=False))

    def test_given_the_stream_alone_then_it_is_enough(self):
        self.load(self.given(fake_server.sample_status(), polls=False))

    def test_given_a_server_that_goes_then_the_page_says_so_until_it_is_back(
            self):
        server = self.given(fake_server.sample_status())
        page = self.load(server)
        server.stop()
        page.wait_for(IS_LOST)
        self.assertIn("Connection lost", page.text())
        self.assertIn("These figures are from before that.", page.text())
        self.assertIn("93.71 %", page.text())
        server.status["status"]["results_per_minute"] = 77
        server.start()
        page.wait_for(IS_LIVE)
        page.wait_for("document.body.innerText.includes('77')")
        self.assertNotIn("Connection lost", page.text())
        self.assertEqual(
            page.ask("document.getElementById('announcement').textContent"),
            "The server is back.")

    def test_given_10000_hosts_then_the_page_stays_small(self):
        page = self.load(self.given(fake_server.large_status()))
        self.assertIn("These are the first 50 of 10,000 hosts.", page.text())
        rows = "document.querySelectorAll('#hosts tbody tr').length"
        self.assertEqual(page.ask(rows), 10)
        page.ask("document.querySelector('[aria-controls=hosts]').click()")
        page.wait_for(f"{rows} === 50")
        self.assertLess(page.ask("document.querySelectorAll('*').length"),
                        3000)

    def test_given_any_width_and_scheme_then_all_is_readable(self):
        server = self.given(fake_server.sample_status())
        server.statuses["second-try"] = fake_server.paused_status()
        for width in (360, 1280):
            for dark in (False, True):
                for run in ("", "#run=second-try"):
                    with self.subTest(width=width, dark=dark, run=run):
                        page = self.load(server, run, width=width, dark=dark)
                        page.wait_for(HAS_CURVE)
                        self.assertEqual(page.ask(LOW_CONTRAST), [])
                        self.assertLessEqual(
                            page.ask("document.documentElement.scrollWidth"),
                            width)

    def test_given_a_reader_who_does_not_see_then_all_has_a_name(self):
        page = self.load(self.given(fake_server.sample_status()),
                         until=HAS_CURVE)
        self.assertEqual(page.ask(UNNAMED), [])
        levels = page.ask("[...document.querySelectorAll('h1, h2, h3')]"
                          ".map((node) => Number(node.tagName[1]))")
        for above, below in zip(levels, levels[1:]):
            self.assertLessEqual(below, above + 1)
        # Every chart is a table, too.
        page.ask("document.querySelectorAll('details').forEach("
                 "(node) => { node.open = true; })")
        page.wait_for(
            "document.querySelector('#activity-table tbody tr') !== null")
        self.assertRegex(page.text(), r"995 14 Nov, 22:08:20 93\.66 % 0\.3273")
        self.assertRegex(page.text(), r"1,3\d\d 1,3\d\d 2\d 8\.\d+ MB 2\d")

    def test_given_the_keyboard_then_all_is_reached_in_reading_order(self):
        page = self.load(self.given(fake_server.large_status()),
                         until=HAS_CURVE)
        stops = []
        for _ in range(60):
            page.tab()
            stop = page.ask("""(() => {
              const node = document.activeElement;
              if (node === document.body) return null;
              const box = node.getBoundingClientRect();
              const style = getComputedStyle(
                  node.matches('fieldset input') ? node.nextElementSibling
                                                 : node);
              return [node.id || node.dataset.copy || node.name ||
                      node.getAttribute('aria-controls') || node.textContent,
                      style.outlineStyle !== 'none' && box.width > 0];
            })()""")
            if stop is None:
                break
            stops.append(stop)
        names = [name.strip() for name, _ in stops]
        expected = ["Skip to the figures", "runs", "axis", "range",
                    "attach-command", "run-command", "hosts",
                    "Status as JSON"]
        self.assertEqual([n for n in names if n in expected], expected)
        self.assertEqual([n for n, has_focus_mark in stops
                          if not has_focus_mark], [])
        # A chosen axis is kept, and drawn.
        page.ask("document.querySelector('[name=axis]').focus()")
        page.press("ArrowRight", number=39)
        page.wait_for("document.getElementById('accuracy').ariaLabel"
                      ".includes('over time')")

    def test_given_reduced_motion_then_nothing_moves(self):
        page = self.load(self.given(fake_server.sample_status()), still=True,
                         until=HAS_CURVE)
        self.assertEqual(page.ask("document.getAnimations().length"), 0)


if __name__ == "__main__":
    if not browser.PROGRAM or not os.path.exists(fake_server.CHART_JS):
        print("skipped: page_test needs chromium and libjs-chart.js")
        sys.exit(SKIPPED)
    unittest.main()
