package e2e

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rollscope/rollscope/core/synth"
)

// A big run is long enough that something can happen while it is read.
type bigRun struct {
	path   string
	stats  synth.Stats
	folder string
}

// big makes one run for all tests that read it.
var big = sync.OnceValues(func() (*bigRun, error) {
	folder, err := os.MkdirTemp("", "rollscope-e2e-run-")
	if err != nil {
		return nil, err
	}
	b := &bigRun{path: filepath.Join(folder, "rollouts.jsonl"), folder: folder}
	b.stats, err = generate(b.path, synth.Options{Rollouts: 3_000, MeanBytes: 50 << 10, Seed: 3, Dirty: true})
	return b, err
})

func bigFile(t testing.TB) *bigRun {
	t.Helper()
	b, err := big()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func generate(path string, o synth.Options) (synth.Stats, error) {
	file, err := os.Create(path)
	if err != nil {
		return synth.Stats{}, err
	}
	w := bufio.NewWriterSize(file, 1<<20)
	stats, err := synth.Write(w, o)
	if err == nil {
		err = w.Flush()
	}
	if e := file.Close(); err == nil {
		err = e
	}
	return stats, err
}

// copied gives a test a big file of its own, to spoil.
func (b *bigRun) copied(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rollouts.jsonl")
	copyFile(t, b.path, path)
	return path
}

// want is what a reader must find in the file.
func (b *bigRun) want() map[string]string {
	want := map[string]string{}
	for name, n := range map[string]int{
		"accounting.lines": b.stats.Lines, "accounting.unreadable": b.stats.Unreadable, "accounting.read": b.stats.Lines - b.stats.Unreadable,
		"accounting.bytes": int(b.stats.Bytes), "accounting.blank": 0, "rollout.count": b.stats.Lines,
		"verdict.healthy": b.stats.Healthy, "verdict.unhealthy": b.stats.Unhealthy, "verdict.unobserved": b.stats.Unobserved,
	} {
		want[name] = strconv.Itoa(n)
	}
	return want
}

// reading is true in the page once rows are shown while the rest is still being read.
const reading = `document.documentElement.dataset.state === "scanning"
	&& Number(document.querySelector("[data-stat='rollout.count']")?.dataset.value) > 0`

// TestFirstRows reads a big file: rows and numbers are there before the end, and how far it is.
func TestFirstRows(t *testing.T) {
	b := bigFile(t)
	p := open(t, "#tab=rollouts")
	// What the page shows while it reads is noted by the page itself, so that nothing is missed.
	Eval[bool](p, `(() => {
		e2e.seen = [];
		e2e.until(() => {
			if (`+reading+`) e2e.seen.push({
				Count: Number(document.querySelector("[data-stat='rollout.count']").dataset.value),
				Rows: document.querySelectorAll("#region-main tr[data-rollout]").length,
				Progress: document.querySelector("#region-progress").innerText.replace(/\s+/g, " "),
				Share: Number(document.querySelector("#region-progress progress")?.value ?? -1),
				Cancel: Boolean(document.querySelector("[data-action=cancel]")),
			});
			return false;
		});
		return true;
	})()`)
	p.Drop(b.path)
	p.WaitState("ready")
	type sight struct {
		Count, Rows, Share int
		Progress           string
		Cancel             bool
	}
	seen := Eval[[]sight](p, `e2e.seen`)
	var partial []sight
	for i, s := range seen {
		if s.Count < b.stats.Lines {
			partial = append(partial, s)
		}
		if i > 0 && s.Count < seen[i-1].Count {
			t.Errorf("the page shows fewer rows later: %d after %d", s.Count, seen[i-1].Count)
		}
	}
	if len(partial) == 0 {
		t.Fatalf("nothing was shown before the end: %v", seen)
	}
	last := partial[len(partial)-1]
	if last.Rows == 0 || !last.Cancel || last.Share < 0 || last.Share > 100 {
		t.Errorf("while reading the page shows %+v", last)
	}
	for _, words := range []string{"Reading", "of " + group(b.stats.Bytes) + " bytes", "rows"} {
		if !strings.Contains(last.Progress, words) {
			t.Errorf("the progress line does not say %q: %s", words, last.Progress)
		}
	}
	p.WaitStats(b.want())
	if text := Eval[string](p, `document.querySelector("#region-progress").innerText`); text != "" {
		t.Errorf("reading is over, but the progress line says %q", text)
	}
	p.SetHash("tab=health")
	p.Wait(`document.querySelector("[data-page=health]")`)
	p.holds(judge(t, b.folder, []string{"rollouts.jsonl"}, nil, ""))
}

// group writes a number with separators.
func group(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// whileReading does something in the page at the moment when the first rows are shown and more are to come.
func whileReading(p *Page, do string) {
	p.t.Helper()
	Eval[bool](p, `(() => { e2e.done = e2e.until(() => `+reading+`).then(() => { `+do+` }); return true; })()`)
}

// TestCancel stops the reading: what was read stays, and the page says that it is not everything.
func TestCancel(t *testing.T) {
	b := bigFile(t)
	p := open(t, "#tab=rollouts")
	whileReading(p, `document.querySelector("[data-action=cancel]").click()`)
	p.Drop(b.path)
	p.WaitState("ready")
	p.WaitAlert("cancelled")
	count, _ := strconv.Atoi(p.Stat("rollout.count"))
	if count == 0 || count >= b.stats.Lines {
		t.Errorf("%d of %d rows after reading was cancelled", count, b.stats.Lines)
	}
	if n := p.offered(); n > 0 {
		t.Errorf("%d reports of half a run are offered", n)
	}
	if text := Eval[string](p, `document.querySelector("#region-progress").innerText`); strings.Contains(text, "Reading") {
		t.Errorf("the page still says %q", text)
	}
	// Opened again, it is read whole.
	p.Drop(b.path)
	p.WaitState("ready")
	p.WaitStats(b.want())
	if codes := p.Codes(); strings.Contains(fmt.Sprint(codes), "cancelled") {
		t.Errorf("messages %q of the reading before", codes)
	}
}

// TestKeysWhileReading moves through the rows by keys while more come in: the focus stays where it is.
func TestKeysWhileReading(t *testing.T) {
	b := bigFile(t)
	p := open(t, "#tab=rollouts")
	p.Drop(b.path)
	// A few hundred rows are enough for all charts of the tab, so that nothing above the table comes later.
	p.Wait(reading + ` && Number(document.querySelector("[data-stat='rollout.count']").dataset.value) > 200`)
	for _, at := range []string{"0", "1"} {
		p.Key("j")
		p.Wait(fmt.Sprintf(`document.activeElement?.dataset.index === %q`, at))
	}
	p.WaitState("ready")
	p.WaitStats(b.want())
	if at := Eval[string](p, `document.activeElement?.dataset.index || document.activeElement?.tagName`); at != "1" {
		t.Errorf("when all rows are there, the focus is at %q", at)
	}
}

// TestOtherFileWhileReading drops a second file before the first is read: the page shows the second alone.
func TestOtherFileWhileReading(t *testing.T) {
	b := bigFile(t)
	small := files(t, map[string]string{"rollouts.jsonl": rows(7)})
	p := open(t, "#tab=health")
	p.Drop(b.path)
	p.Wait(reading)
	p.Drop(small)
	p.WaitState("ready")
	p.holds(judge(t, small, []string{"rollouts.jsonl"}, nil, ""))
}

// TestChangedWhileReading changes a file, or takes it away, after the first rows are there.
func TestChangedWhileReading(t *testing.T) {
	b := bigFile(t)
	for _, c := range []struct {
		name  string
		spoil func(path string) error
		code  string
	}{
		{"rewritten", func(path string) error {
			if err := os.Truncate(path, 60<<20); err != nil {
				return err
			}
			// The time of change alone may have too coarse a clock.
			return os.Chtimes(path, time.Time{}, time.Now().Add(time.Hour))
		}, "changed_while_reading"},
		{"removed", os.Remove, "vanished"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := b.copied(t)
			p := open(t, "#tab=rollouts")
			p.Drop(path)
			p.Wait(reading)
			if err := c.spoil(path); err != nil {
				t.Fatal(err)
			}
			p.WaitState("ready")
			if text := p.WaitAlert(c.code); !strings.Contains(text, "rollouts.jsonl") {
				t.Errorf("the message names no file: %s", text)
			}
			// What was read before stays.
			count, _ := strconv.Atoi(p.Stat("rollout.count"))
			if count == 0 || count >= b.stats.Lines {
				t.Errorf("%d of %d rows", count, b.stats.Lines)
			}
			if n := len(p.Rows()); n == 0 {
				t.Errorf("no row is shown")
			}
		})
	}
}

// TestVanishedBeforeOpening takes a file away after it was read: what is known of a row is shown, its text is not.
func TestVanishedBeforeOpening(t *testing.T) {
	folder := files(t, map[string]string{"rollouts.jsonl": rows(3)})
	p := open(t, "#tab=rollouts")
	p.Drop(folder)
	p.WaitState("ready")
	if err := os.Remove(filepath.Join(folder, "rollouts.jsonl")); err != nil {
		t.Fatal(err)
	}
	p.SetHash("rollout=rollouts.jsonl:2")
	p.WaitAlert("vanished")
	if text := p.Text("#region-main"); !strings.Contains(text, "unobserved") {
		t.Errorf("the verdict is not shown: %s", text)
	}
	p.SetHash("tab=rollouts")
	p.Wait(`document.querySelectorAll("#region-main tr[data-rollout]").length === 3`)
}

// TestLongLine reads a line of 40 MB between two small ones; with -long also one of 300 MB.
func TestLongLine(t *testing.T) {
	sizes := []int{40_000_000}
	if *long {
		sizes = append(sizes, 300_000_000)
	}
	for _, size := range sizes {
		t.Run(strconv.Itoa(size), func(t *testing.T) {
			folder := t.TempDir()
			file, err := os.Create(filepath.Join(folder, "rollouts.jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			chunk := strings.Repeat("QUJD", 250_000)
			parts := []string{row(0, 0), "\n", `{"_ng_task_index":1,"_ng_rollout_index":0,"reward":1,"blob":"`}
			for range size / len(chunk) {
				parts = append(parts, chunk)
			}
			parts = append(parts, "\"}\n", row(2, 0), "\n")
			for _, part := range parts {
				if _, err := file.WriteString(part); err != nil {
					t.Fatal(err)
				}
			}
			want := judge(t, folder, []string{"rollouts.jsonl"}, nil, "")
			p := open(t, "#tab=health")
			p.Drop(file.Name())
			p.WaitState("ready")
			p.holds(want)
			// Opened, the row shows its beginning and how long it is, not all of it.
			p.SetHash("rollout=rollouts.jsonl:2&part=raw")
			p.Wait(`document.querySelector("#region-main").innerText.includes("QUJDQUJD")`)
			if n := Eval[int](p, `document.documentElement.outerHTML.length`); n > 2_000_000 {
				t.Errorf("the page of a long row has %d characters", n)
			}
			if text := p.Text("#region-main"); !strings.Contains(text, group(int64(size) - 0)[:4]) {
				t.Errorf("the page does not say how long the value is: %.600s", text)
			}
		})
	}
}

// visible counts the characters of the long value that the page shows.
func visible(text string) int {
	at := strings.Index(text, "QUJD")
	return strings.IndexFunc(text[at:]+" ", func(r rune) bool { return !strings.ContainsRune("QUJD", r) })
}

// TestChosenBeforeReady chooses files before the module is there: they are read as soon as it is.
func TestChosenBeforeReady(t *testing.T) {
	folder := files(t, map[string]string{"rollouts.jsonl": rows(4)})
	p := newPage(t)
	p.Goto(site + "#tab=health")
	p.ChooseFiles(filepath.Join(folder, "rollouts.jsonl"))
	p.Wait(`document.documentElement.dataset.state === "ready"`)
	p.holds(judge(t, folder, []string{"rollouts.jsonl"}, nil, ""))
}

// TestDeadScanner kills the workers that read, in the middle of it: the page says so and reads on.
func TestDeadScanner(t *testing.T) {
	b := bigFile(t)
	p := open(t, "#tab=health")
	p.Allow("out of memory")
	whileReading(p, `rollscope.crashScanner()`)
	p.Drop(b.path)
	p.WaitState("ready")
	p.WaitAlert("worker_restarted")
	p.WaitStats(b.want())
	p.holds(judge(t, b.folder, []string{"rollouts.jsonl"}, nil, ""))
}

// TestDeadDesk kills the worker that holds what was read, once while reading and once afterwards on other files.
func TestDeadDesk(t *testing.T) {
	b := bigFile(t)
	p := open(t, "#tab=health")
	p.Allow("out of memory")
	whileReading(p, `rollscope.crashDesk()`)
	p.Drop(b.path)
	p.WaitAlert("worker_restarted")
	p.WaitState("ready")
	p.WaitStats(b.want())
	p.holds(judge(t, b.folder, []string{"rollouts.jsonl"}, nil, ""))
}
