package e2e

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rollscope/rollscope/core/synth"
)

// mostNodes bounds the elements of the whole document, whatever is open in it.
const mostNodes = 4000

// bounded fails the test when the document holds more than what is in sight asks for.
func (p *Page) bounded(what string) {
	p.t.Helper()
	p.Settled()
	if n := Eval[int](p, `document.querySelectorAll("*").length`); n > mostNodes {
		p.t.Errorf("%s: %d elements in the document", what, n)
	}
}

// TestManyTurns opens a rollout of 10,000 turns in its middle and scrolls through it: the document holds those around
// the window.
func TestManyTurns(t *testing.T) {
	const turns = 10_000
	path := filepath.Join(t.TempDir(), "rollouts.jsonl")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	b := bufio.NewWriter(f)
	b.WriteString(`{"_ng_task_index":0,"_ng_rollout_index":0,"reward":1,"ng_trajectory":{"schema_version":"1.0","task_id":"0","rollout_id":"0-0","invocations":[],"tool_calls":[],"model_calls":[],"turns":[`)
	for i := range turns {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(b, `{"invocation_id":"root","task_id":"0","rollout_id":"0-0","turn_no":%d,"timestamp":%d,"question":"question %[1]d","answer":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"answer %[1]d","annotations":[]}]}],"reasoning_content":null,"resolved":null,"step_count":0,"model_calls":[]}`, i+1, 1700000000+i)
	}
	b.WriteString("]}}\n")
	if b.Flush() != nil || f.Close() != nil {
		t.Fatal("the file cannot be written")
	}
	p := open(t, "#rollout=rollouts.jsonl:1&turn=5000")
	p.Drop(path)
	p.WaitState("ready")
	p.Wait(`document.querySelector("#region-main")?.innerText.includes("answer 5000")`)
	p.bounded("in the middle")
	for _, place := range []string{"box.scrollHeight", "0", "box.scrollHeight / 3"} {
		Eval[int](p, `(() => { const box = document.querySelector("[data-scroller]"); box.scrollTop = `+place+`; return 0; })()`)
		p.Wait(`(() => {
			const box = document.querySelector("[data-scroller]").getBoundingClientRect();
			return document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2).closest(".turn");
		})()`)
		p.bounded("at " + place)
	}
	p.SetHash("rollout=rollouts.jsonl:1&turn=10000")
	p.Wait(`document.querySelector("#region-main")?.innerText.includes("answer 10000")`)
	p.bounded("at the end")
	p.Key("r")
	p.Wait(`location.hash.includes("part=raw")`)
	p.bounded("as JSON")
}

// TestManyRows goes through every tab of a generated run, which is large with -long, and scrolls its tables.
func TestManyRows(t *testing.T) {
	n, mean := 2_000, 4<<10
	if *long {
		n, mean = 6_000, 50<<10 // 300 MB
	}
	path := filepath.Join(t.TempDir(), "rollouts.jsonl")
	if _, err := generate(path, synth.Options{Rollouts: n, MeanBytes: mean, Seed: 11}); err != nil {
		t.Fatal(err)
	}
	p := open(t, "")
	p.Drop(path)
	p.WaitState("ready")
	p.WaitStats(map[string]string{"rollout.count": strconv.Itoa(n)})
	for _, tab := range Eval[[]string](p, `[...document.querySelectorAll("[data-tab]")].map((e) => e.dataset.tab)`) {
		p.show(look{fragment: "tab=" + tab})
		p.Wait(`document.documentElement.dataset.state === "ready"`)
		p.bounded(tab)
		for _, part := range []string{"0.5", "1", "0"} {
			Eval[int](p, `(() => { for (const t of document.querySelectorAll("[data-table][data-window]")) t.scrollTop = t.scrollHeight * `+part+`; return 0; })()`)
			p.bounded(tab + " at " + part)
		}
	}
}
